#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fieldcost::faults {

// A body that is small to send but expensive to decode, and the status that the server must return.
struct Bomb {
  std::string name;
  std::string body;
  int status = 400;
};

// Malformed zstd frames that no compressor produces (RFC 8878), and invalid protobuf messages.
std::vector<Bomb> MakeBombs();

// A zstd frame assembled by hand.
struct Frame {
  std::optional<std::uint64_t> content_size;  // as announced in the header
  std::optional<std::uint8_t> window;         // descriptor: 2^(10 + bits 3..7) bytes or more
  std::string blocks;
  std::string Bytes() const;
};
// Expands to `size` times `byte` (at most 128 KiB); takes 4 bytes.
std::string RunBlock(std::uint32_t size, char byte, bool last);
std::string RawBlock(const std::string& bytes, bool last);

}  // namespace fieldcost::faults
