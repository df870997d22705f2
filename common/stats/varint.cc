#include "common/stats/varint.h"

#include <cstddef>

namespace fieldcost::stats {
namespace {

constexpr std::size_t kMaxVarintBytes = 19;  // of 128 bits

bool TakeByte(std::string_view& bytes, std::uint8_t& byte) {
  if (bytes.empty()) return false;
  byte = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return true;
}

}  // namespace

void AppendVarint(Uint128 value, std::string& bytes) {
  char buffer[kMaxVarintBytes];
  std::size_t size = 0;
  const auto append = [&](auto rest) {
    for (; rest >= 0x80; rest >>= 7) {
      buffer[size++] = static_cast<char>(static_cast<std::uint8_t>(rest) | 0x80);
    }
    buffer[size++] = static_cast<char>(rest);
  };
  // Nearly all numbers need no 128-bit arithmetic.
  if (High64(value) == 0) {
    append(Low64(value));
  } else {
    append(value);
  }
  bytes.append(buffer, size);
}

bool TakeVarint(std::string_view& untrusted_bytes, Uint128& value) {
  // Nearly all numbers end within the 63 bits that need no 128-bit arithmetic.
  constexpr unsigned kNarrowBits = 63;
  std::uint64_t narrow = 0;
  std::uint8_t byte = 0;
  for (unsigned shift = 0; shift < kNarrowBits; shift += 7) {
    if (!TakeByte(untrusted_bytes, byte)) return false;
    narrow |= std::uint64_t{byte & 0x7fU} << shift;
    value = narrow;
    if (byte < 0x80) return true;
  }
  for (unsigned shift = kNarrowBits; shift < 128; shift += 7) {
    if (!TakeByte(untrusted_bytes, byte)) return false;
    const Uint128 part = byte & 0x7f;
    if (shift == 126 && part > 3) return false;
    value |= part << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeVarint(std::string_view& untrusted_bytes, std::uint64_t most, std::uint64_t& value) {
  Uint128 number = 0;
  if (!TakeVarint(untrusted_bytes, number) || number > most) return false;
  value = Low64(number);
  return true;
}

}  // namespace fieldcost::stats
