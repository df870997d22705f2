#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/byte_order.h"
#include "common/stats/uint128.h"

namespace fieldcost::wire {

namespace proto {
class Fragment;
}  // namespace proto

// The numbers of a fragment (FRAGMENTS.md): one byte in the number's column, and as many bits as
// the number has, without the highest, in a stream common to all columns. For this folder's codecs
// only.

// In the order of their fields in wire.proto.
enum class Column : std::uint8_t {
  kRowKind,
  kQuarterWeek,
  kContributions,
  kMean,
  kMeanSquared,
  kMeanCubed,
  kInverseCalls,
  kWithinFreedom,
  kWithinSquares,
  kBucketCount,
  kUntimed,
  kBucketGap,
  kCount,
  kSum,
  kSquares,
  kShare,
  kBoundedCalls,
  kBoundedSum,
};
inline constexpr std::size_t kColumns = 18;

// The byte of a number that has as many bits as expected.
inline constexpr int kExpectedByte = 128;
// Leaves room in a byte for every length from 0 to 128.
constexpr int ClampExpected(int expected_bits) { return std::clamp(expected_bits, 1, 120); }

// Returns where large columns begin and end in the message's serialization, which has
// `message_bytes`, ascending.
std::vector<std::size_t> ColumnBoundaries(const proto::Fragment& fragment,
                                          std::size_t message_bytes);

// Appends numbers. Signed ones are in two's complement.
class NumberWriter {
 public:
  void Byte(Column column, std::uint8_t byte);
  void Number(Column column, stats::Uint128 number);
  void Signed(Column column, stats::Uint128 number);
  // A number that has about `expected_bits` bits.
  void SignedNear(Column column, stats::Uint128 number, int expected_bits);
  // Moves everything into the columns of an empty message; nothing may be appended afterwards.
  void MoveTo(proto::Fragment& fragment);

 private:
  void Bits(stats::Uint128 number, unsigned length);
  void AppendBits(std::uint64_t bits, unsigned count);

  std::array<std::string, kColumns> columns_;
  std::string bits_;
  std::uint64_t pending_ = 0;  // the last bits, fewer than a byte
  unsigned pending_bits_ = 0;
};

// Reads external numbers in the order in which they were written. After a failure (a column or the
// bits are exhausted, a length is out of range, or the caller has found an error) all numbers are
// unspecified, so callers need to check only now and then. Not thread-safe.
class NumberReader {
 public:
  // The message must outlive the reader.
  explicit NumberReader(const proto::Fragment& untrusted_fragment);

  std::uint8_t Byte(Column column) {
    Position& next = columns_[static_cast<std::size_t>(column)];
    if (next.begin == next.end) {
      failed_ = true;
      return 0;
    }
    return static_cast<std::uint8_t>(*next.begin++);
  }
  // A number of at most `max_bits` bits.
  stats::Uint128 Number(Column column, unsigned max_bits = 128) {
    return Bits(Byte(column), max_bits);
  }
  stats::Uint128 Signed(Column column) { return Unfold(Number(column)); }
  stats::Uint128 SignedNear(Column column, int expected_bits) {
    return SignedNear(Byte(column), expected_bits, 128);
  }
  // The same with a byte that has been read before.
  stats::Uint128 SignedNear(std::uint8_t byte, int expected_bits, unsigned max_bits) {
    // A length below 0 becomes one above `max_bits`.
    const int length = byte - kExpectedByte + ClampExpected(expected_bits);
    return Unfold(Bits(static_cast<unsigned>(length), max_bits));
  }

  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  // Whether all columns and bits have been read, and the unused bits are 0.
  bool AtEnd() const;

 private:
  struct Position {
    const char* begin = nullptr;
    const char* end = nullptr;
  };

  static constexpr stats::Uint128 Unfold(stats::Uint128 number) {
    return (number >> 1) ^ (stats::Uint128{0} - (number & 1U));
  }
  stats::Uint128 Bits(unsigned length, unsigned max_bits) {
    if (length <= 1) return length;
    const unsigned count = length - 1;
    if (length > max_bits || count > end_bit_ - next_bit_) {
      failed_ = true;
      return 0;
    }
    if (count <= kFew) return (std::uint64_t{1} << count) | FewBits(count);
    return ManyBits(count);
  }
  // REQUIRES: there are `count` more bits; count <= kFew.
  std::uint64_t FewBits(unsigned count) {
    std::uint64_t word = 0;
    const char* const next = bits_.data() + next_bit_ / 8;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, next, sizeof word);  // many times faster
    } else {
      word = ReadLittleEndian({next, sizeof word});
    }
    word >>= next_bit_ % 8;
    next_bit_ += count;
    return word & ((std::uint64_t{1} << count) - 1);
  }
  stats::Uint128 ManyBits(unsigned count);

  static constexpr unsigned kFew = 56;  // of a word, after the bits of its first byte already read

  std::array<Position, kColumns> columns_;
  std::string bits_;  // followed by a word of zeros
  std::size_t end_bit_;
  std::size_t next_bit_ = 0;
  bool failed_ = false;
};

}  // namespace fieldcost::wire
