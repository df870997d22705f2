#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fieldcost::faults {

// A body that is small to send and dear to read, and the status that a server has to give for it.
struct Bomb {
  std::string name;
  std::string body;
  int status = 400;
};

// zstd frames as no compressor makes them (RFC 8878), and protobuf that is no batch.
std::vector<Bomb> MakeBombs();

// A frame of hand-made parts.
struct Frame {
  std::optional<std::uint64_t> content_size;  // what its header says
  std::optional<std::uint8_t> window;         // the descriptor: 2^(10 + bits 3..7) bytes, and more
  std::string blocks;
  std::string Bytes() const;
};
// Expands to `size` (at most 128 KiB) times `byte`: 4 bytes.
std::string RunBlock(std::uint32_t size, char byte, bool last);
std::string RawBlock(const std::string& bytes, bool last);

}  // namespace fieldcost::faults
