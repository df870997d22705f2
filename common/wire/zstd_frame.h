#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::wire {

// Everything in this folder that is compressed is exactly one zstd frame (RFC 8878) with its
// content size in the header and a content checksum.

// kInternal if the library fails.
Result<std::string> Compress(std::string_view bytes, int level);

// The first bytes of what is in a frame, at most `bytes`; empty if it is none. Needs little time
// and memory, whatever the frame announces.
std::string BeginningOf(std::string_view untrusted_frame, std::size_t bytes);

struct DecompressionLimits {
  std::size_t max_compressed_bytes = 0;
  std::size_t max_decoded_bytes = 0;
  // Beyond `ratio_free_bytes` a content may be `max_ratio` times as long as its frame. 0 = no
  // bound.
  std::size_t max_ratio = 0;
  std::size_t ratio_free_bytes = 0;
};

// Decompresses frames into a buffer that it keeps. Not thread-safe.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // The content, valid until the next call. All limits are checked against the frame's header
  // before memory is allocated. kTooLarge beyond the limits; kCorrupt for anything but one whole
  // frame of known content size.
  Result<std::string_view> Decompress(std::string_view untrusted_frame,
                                      const DecompressionLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::wire
