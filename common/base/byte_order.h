#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"

namespace fieldcost {

// Integers as bytes in a fixed order, independent of the machine's. Pure functions.

// Big endian: comparing the bytes compares the numbers.
inline void AppendBigEndian32(std::uint32_t value, std::string& bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
}
inline void AppendBigEndian64(std::uint64_t value, std::string& bytes) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
}
inline void AppendLittleEndian64(std::uint64_t value, std::string& bytes) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
}

// Returns the number that the whole of `bytes` encodes. REQUIRES: at most 8 bytes.
inline std::uint64_t ReadBigEndian(std::string_view bytes) {
  FIELDCOST_CHECK(bytes.size() <= sizeof(std::uint64_t));
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}
inline std::uint64_t ReadLittleEndian(std::string_view bytes) {
  FIELDCOST_CHECK(bytes.size() <= sizeof(std::uint64_t));
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace fieldcost
