#include "common/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace fieldcost {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bit-reversed

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? kPolynomial : 0);
    }
    table[i] = remainder;
  }
  return table;
}

#if defined(__x86_64__)
// NOLINTNEXTLINE(readability-identifier-naming): an attribute of the compiler
__attribute__((target("sse4.2"))) std::uint32_t ByInstruction(std::string_view bytes,
                                                              std::uint32_t before) {
  std::uint64_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = _mm_crc32_u64(crc, word);
    at += sizeof word;
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*at++));
  return ~rest;
}
#endif

}  // namespace

std::uint32_t internal::Crc32cByTable(std::string_view bytes, std::uint32_t before) {
  static constexpr std::array<std::uint32_t, 256> kTable = MakeTable();
  std::uint32_t crc = ~before;
  for (const char c : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasInstruction) return ByInstruction(bytes, before);
#endif
  return internal::Crc32cByTable(bytes, before);
}

}  // namespace fieldcost
