#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/descriptions.h"
#include "common/recording/file_format.h"
#include "common/recording/recording_index.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::recording {

// Where reading a recording stopped, and the reason.
struct Stop {
  std::uint64_t offset = 0;
  std::string reason;  // empty: the end of the file
};

// Everything known about a recording before samples are read.
struct Contents {
  ClockAnchors anchors;
  std::shared_ptr<const tree::Dictionary> dictionary;
  Descriptions descriptions;
  std::vector<StreamIndex> streams;  // as many as descriptions.streams
  std::vector<IndexEntry> frames;    // all but the index, up to the stop
  bool has_index = false;            // else it was rebuilt from the frames
  Stop stop;
};

// Uses the index if the file ends with a matching one; otherwise reads all frames up to the first
// that is incomplete or does not follow from its predecessors. kInvalidArgument, kCorrupt or
// kUnsupported if even the header cannot be read.
Result<Contents> ReadContents(std::string_view untrusted_file);
// The same, ignoring any index.
Result<Contents> ReadContentsWithoutIndex(std::string_view untrusted_file);

// The index entry for a frame, without a block's number. kCorrupt if the frame's head is malformed.
Result<IndexEntry> EntryOf(const FileFrame& untrusted_frame);

}  // namespace fieldcost::recording
