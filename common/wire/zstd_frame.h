#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::wire {

// All compressed data of this folder is exactly one zstd frame (RFC 8878) with its content size in
// the header and a content checksum.

// kInternal if the library fails.
Result<std::string> Compress(std::string_view bytes, int level);
// The same, but a block of the frame ends at each of the ascending `ends`, so that different kinds
// of bytes have different codes. Costs up to a hundred bytes per block; readers need not know.
Result<std::string> CompressInBlocks(std::string_view bytes, std::span<const std::size_t> ends,
                                     int level);

// Returns the first bytes of a frame's content, at most `bytes`; empty if it is not a frame. Takes
// little time and memory, regardless of the size that the frame announces.
std::string BeginningOf(std::string_view untrusted_frame, std::size_t bytes);

struct DecompressionLimits {
  std::size_t max_compressed_bytes = 0;
  std::size_t max_decoded_bytes = 0;
  // Content of more than `ratio_free_bytes` may be at most `max_ratio` times as long as its frame.
  // 0 = no limit.
  std::size_t max_ratio = 0;
  std::size_t ratio_free_bytes = 0;
};

// Decompresses frames into a buffer that it reuses. Not thread-safe.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Returns the content, valid until the next call. Checks all limits against the frame's header
  // before allocating memory. kTooLarge if a limit is exceeded; kCorrupt for anything but one
  // complete frame of known content size.
  Result<std::string_view> Decompress(std::string_view untrusted_frame,
                                      const DecompressionLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::wire
