// The columns of bytes and the bits of a Fragment:
//
//   number          := byte: its length in bits, 0 to 128; then its bits below the highest, in
//   `bits` signed number   := number: 2 * d, or -2 * d - 1 for negative ones expected number := the
//   same with the byte 128 + length - expected length bits            := from the lowest bit of the
//   first byte on; the last byte is filled with zeros
#include "common/wire/number_columns.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/wire/row_table.h"
#include "common/wire/wire.pb.h"

namespace fieldcost::wire {
namespace {

using stats::High64;
using stats::Low64;
using stats::Uint128;

constexpr unsigned kByteBits = 8;
constexpr unsigned kWordBits = 64;

unsigned LengthOf(Uint128 number) {
  return static_cast<unsigned>(High64(number) != 0 ? kWordBits + std::bit_width(High64(number))
                                                   : std::bit_width(Low64(number)));
}

// Two's complement as a number that is small if the value is near 0.
Uint128 Fold(Uint128 number) {
  return (number << 1) ^ (Uint128{0} - (number >> (2 * kWordBits - 1)));
}

using FieldOf = const std::string& (proto::Fragment::*)() const;
constexpr std::array<FieldOf, kColumns> kColumnFields = {
    &proto::Fragment::row_kind,       &proto::Fragment::quarter_week,
    &proto::Fragment::contributions,  &proto::Fragment::mean,
    &proto::Fragment::mean_squared,   &proto::Fragment::mean_cubed,
    &proto::Fragment::inverse_calls,  &proto::Fragment::within_freedom,
    &proto::Fragment::within_squares, &proto::Fragment::bucket_count,
    &proto::Fragment::untimed,        &proto::Fragment::bucket_gap,
    &proto::Fragment::count,          &proto::Fragment::sum,
    &proto::Fragment::squares,        &proto::Fragment::share,
    &proto::Fragment::bounded_calls,  &proto::Fragment::bounded_sum};

}  // namespace

std::vector<std::size_t> ColumnBoundaries(const proto::Fragment& fragment,
                                          std::size_t message_bytes) {
  constexpr std::size_t kLarge = 1024;  // a code of its own saves more than it costs
  std::vector<std::size_t> boundaries;
  std::size_t end = message_bytes;
  const auto step_over = [&](int field, const std::string& column) {
    if (column.empty()) return;
    const std::size_t begin = end - FieldBytes(field, column.size());
    if (column.size() >= kLarge) {
      const bool is_known = !boundaries.empty() && boundaries.back() == end;
      if (end != message_bytes && !is_known) boundaries.push_back(end);
      boundaries.push_back(begin);
    }
    end = begin;
  };
  // Fields are serialized in the order of their numbers, and the last ones are the columns.
  step_over(proto::Fragment::kBitsFieldNumber, fragment.bits());
  for (std::size_t i = kColumns; i-- > 0;) {
    step_over(proto::Fragment::kRowKindFieldNumber + static_cast<int>(i),
              (fragment.*kColumnFields[i])());
  }
  std::reverse(boundaries.begin(), boundaries.end());
  return boundaries;
}

void NumberWriter::Byte(Column column, std::uint8_t byte) {
  columns_[static_cast<std::size_t>(column)] += static_cast<char>(byte);
}

void NumberWriter::Number(Column column, Uint128 number) {
  const unsigned length = LengthOf(number);
  Byte(column, static_cast<std::uint8_t>(length));
  Bits(number, length);
}

void NumberWriter::Signed(Column column, Uint128 number) { Number(column, Fold(number)); }

void NumberWriter::SignedNear(Column column, Uint128 number, int expected_bits) {
  const Uint128 folded = Fold(number);
  const unsigned length = LengthOf(folded);
  Byte(column, static_cast<std::uint8_t>(kExpectedByte + static_cast<int>(length) -
                                         ClampExpected(expected_bits)));
  Bits(folded, length);
}

void NumberWriter::Bits(Uint128 number, unsigned length) {
  constexpr unsigned kMost = kWordBits - kByteBits;  // fewer than 8 bits are pending
  for (unsigned left = length - (length != 0 ? 1 : 0); left != 0;) {
    const unsigned count = std::min(left, kMost);
    AppendBits(Low64(number) & ((std::uint64_t{1} << count) - 1), count);
    number >>= count;
    left -= count;
  }
}

void NumberWriter::AppendBits(std::uint64_t bits, unsigned count) {
  pending_ |= bits << pending_bits_;
  pending_bits_ += count;
  std::array<char, sizeof pending_> bytes;  // at once: many times faster
  unsigned whole = 0;
  for (; pending_bits_ >= kByteBits; pending_bits_ -= kByteBits) {
    bytes[whole++] = static_cast<char>(pending_ & 0xff);
    pending_ >>= kByteBits;
  }
  bits_.append(bytes.data(), whole);
}

void NumberWriter::MoveTo(proto::Fragment& fragment) {
  if (pending_bits_ != 0) bits_ += static_cast<char>(pending_);
  const auto take = [this](Column column) {
    return std::move(columns_[static_cast<std::size_t>(column)]);
  };
  fragment.set_row_kind(take(Column::kRowKind));
  fragment.set_quarter_week(take(Column::kQuarterWeek));
  fragment.set_contributions(take(Column::kContributions));
  fragment.set_mean(take(Column::kMean));
  fragment.set_mean_squared(take(Column::kMeanSquared));
  fragment.set_mean_cubed(take(Column::kMeanCubed));
  fragment.set_inverse_calls(take(Column::kInverseCalls));
  fragment.set_within_freedom(take(Column::kWithinFreedom));
  fragment.set_within_squares(take(Column::kWithinSquares));
  fragment.set_bucket_count(take(Column::kBucketCount));
  fragment.set_untimed(take(Column::kUntimed));
  fragment.set_bucket_gap(take(Column::kBucketGap));
  fragment.set_count(take(Column::kCount));
  fragment.set_sum(take(Column::kSum));
  fragment.set_squares(take(Column::kSquares));
  fragment.set_share(take(Column::kShare));
  fragment.set_bounded_calls(take(Column::kBoundedCalls));
  fragment.set_bounded_sum(take(Column::kBoundedSum));
  fragment.set_bits(std::move(bits_));
}

NumberReader::NumberReader(const proto::Fragment& untrusted_fragment)
    : end_bit_(untrusted_fragment.bits().size() * kByteBits) {
  const std::string& bits = untrusted_fragment.bits();
  bits_.reserve(bits.size() + sizeof(std::uint64_t));
  bits_.append(bits).append(sizeof(std::uint64_t), '\0');
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::string& column = (untrusted_fragment.*kColumnFields[i])();
    columns_[i] = {.begin = column.data(), .end = column.data() + column.size()};
  }
}

Uint128 NumberReader::ManyBits(unsigned count) {
  Uint128 number = Uint128{1} << count;
  for (unsigned done = 0; done < count;) {
    const unsigned some = std::min(count - done, kFew);
    number |= Uint128{FewBits(some)} << done;
    done += some;
  }
  return number;
}

bool NumberReader::AtEnd() const {
  const std::size_t unused = end_bit_ - next_bit_;
  if (unused >= kByteBits) return false;
  if (unused != 0) {
    const auto last = static_cast<unsigned char>(bits_[next_bit_ / kByteBits]);
    if (last >> (kByteBits - unused) != 0) return false;
  }
  return std::all_of(columns_.begin(), columns_.end(),
                     [](const Position& column) { return column.begin == column.end; });
}

}  // namespace fieldcost::wire
