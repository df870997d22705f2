#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/frame.h"
#include "common/tree/path.h"

namespace fieldcost::recording {

// Frames and paths in increments: each contains those added since the previous one, in order.
//   dictionary := first_frame first_path text_count text* frame_count frame* path_count path*
//   frame := kind module file build_id function offset     ; module, file, build_id: text numbers
//   path := (its id - its parent's) frame                  ; the root is omitted
// All numbers are varints, text := size byte*.

// The part of the tables that is already in a file.
struct DictionarySize {
  std::size_t frames = 0;
  std::size_t paths = 1;  // the root needs no increment
  bool operator==(const DictionarySize&) const = default;
};

// Returns the next increment after `size` and advances `size`. An increment is limited in size, so
// several calls may be needed. REQUIRES: the tables are not smaller than `size`.
std::string EncodeIncrement(const tree::FrameTable& frames, const tree::PathTable& paths,
                            DictionarySize& size);

// Adds an increment to tables that contain the previous ones. kCorrupt if it does not follow from
// them or is not as described above; kTooLarge beyond the limits. After an error the tables may
// contain part of it.
Status DecodeIncrement(std::string_view untrusted_payload, tree::FrameTable& frames,
                       tree::PathTable& paths);

}  // namespace fieldcost::recording
