// The numbers of sets and buckets; FRAGMENTS.md has the formulas.
//
//   set    := contributions:signed                ; all else only if there are contributions
//             mean:signed squares:number cubes:signed inverse_calls:signed
//             within_freedom:signed within_squares:number
//   bucket := count:number sum:expected signed, squares: byte 0 (the least) or expected signed
#include "common/wire/row_numbers.h"

#include <bit>

#include "common/shm/log2_bucket.h"
#include "common/stats/floor_divide.h"

namespace fieldcost::wire {
namespace {

using stats::Bucket;
using stats::ContributionScalars;
using stats::High64;
using stats::Int128;
using stats::Low64;
using stats::Uint128;

// Numbers that are stored halved, because their parity is known.
constexpr unsigned kHalvedBits = 127;

// The least sum of squares of `count` integers with this sum, which has the quotient `q`.
constexpr Uint128 LeastSquares(Uint128 sum, Uint128 q, Uint128 count) {
  return (2 * q + 1) * sum - count * q * (q + 1);
}

// The sum of cubes of numbers with these sums whose cubes around `q` add up to 0.
constexpr Uint128 CubesAround(Uint128 q, Uint128 count, Uint128 sum, Uint128 squares) {
  return q * (3 * squares - q * (3 * sum - count * q));
}

// Half of an even number in two's complement.
constexpr Uint128 SignedHalf(Uint128 even) {
  return static_cast<Uint128>(static_cast<Int128>(even) >> 1);
}

int HalfLength(std::uint64_t count) { return static_cast<int>(std::bit_width(count)) / 2; }

Uint128 MinPlusMax(unsigned slot) { return Uint128{shm::SlotMin(slot)} + shm::SlotMax(slot); }

// Expects the middle of the slot, and differences as of independent values spread over the slot.
Uint128 ExpectedSum(unsigned slot, std::uint64_t count) { return (count * MinPlusMax(slot)) >> 1; }
int ExpectedSumBits(unsigned slot, std::uint64_t count) {
  return static_cast<int>(slot) + HalfLength(count) - 3;
}
int ExpectedSquaresBits(unsigned slot, std::uint64_t count) {
  return 2 * static_cast<int>(slot) + HalfLength(count) - 4;
}

struct Squares {
  Uint128 least;
  Uint128 expected;  // has the sum's parity
};

// Values spread evenly over the slot have a third of the variance that is possible with their mean.
// REQUIRES: the count is not 0.
Squares ExpectedSquares(unsigned slot, std::uint64_t count, Uint128 sum) {
  constexpr Uint128 kSmallSum = Uint128{1} << 62;
  Uint128 least = 0;
  if (sum < kSmallSum) {  // the same in words, many times faster: count * q is at most the sum
    const std::uint64_t q = Low64(sum) / count;
    least = Uint128{Low64(sum)} * (2 * q + 1) - Uint128{count * q} * (q + 1);
  } else {
    least = LeastSquares(sum, sum / count, count);
  }
  const Uint128 most =
      MinPlusMax(slot) * sum - Uint128{count} * shm::SlotMax(slot) * shm::SlotMin(slot);
  const Uint128 range = most - least;
  const Uint128 middle = least + (range >> 2) + (range >> 4) + (range >> 6);
  return {.least = least, .expected = middle - ((middle ^ sum) & 1U)};
}

// Fails the reader if it does not fit.
std::uint64_t Narrow(Uint128 untrusted_number, NumberReader& reader) {
  if (High64(untrusted_number) != 0) reader.Fail();
  return Low64(untrusted_number);
}

}  // namespace

SetReference ReferenceTo(const ContributionScalars& set) {
  return {.contributions = set.contributions,
          .inverse_calls = set.sum_inverse_calls,
          .within_freedom = set.sum_within_freedom};
}

void WriteSet(const ContributionScalars& set, const SetReference& reference, Int128& previous,
              NumberWriter& writer) {
  const std::uint64_t count = set.contributions;
  writer.Signed(Column::kContributions, count - reference.contributions);
  if (count == 0) return;
  const auto mean = static_cast<Uint128>(set.sum_mean);
  writer.Signed(Column::kMean, mean - static_cast<Uint128>(previous) * count);
  previous = stats::FloorDivide(set.sum_mean, count);
  const auto q = static_cast<Uint128>(previous);
  writer.Number(Column::kMeanSquared, (set.sum_mean_squared - LeastSquares(mean, q, count)) >> 1);
  writer.Signed(Column::kMeanCubed, static_cast<Uint128>(set.sum_mean_cubed) -
                                        CubesAround(q, count, mean, set.sum_mean_squared));
  writer.Signed(Column::kInverseCalls, set.sum_inverse_calls - reference.inverse_calls);
  writer.Signed(Column::kWithinFreedom, set.sum_within_freedom - reference.within_freedom);
  writer.Number(Column::kWithinSquares, set.sum_within_squares);
}

ContributionScalars ReadSet(const SetReference& reference, Int128& previous,
                            NumberReader& untrusted_reader) {
  NumberReader& reader = untrusted_reader;
  ContributionScalars set;
  set.contributions =
      Narrow(reference.contributions + reader.Signed(Column::kContributions), reader);
  const std::uint64_t count = set.contributions;
  if (count == 0) return set;
  const Uint128 mean = static_cast<Uint128>(previous) * count + reader.Signed(Column::kMean);
  set.sum_mean = static_cast<Int128>(mean);
  previous = stats::FloorDivide(set.sum_mean, count);
  const auto q = static_cast<Uint128>(previous);
  set.sum_mean_squared =
      LeastSquares(mean, q, count) + 2 * reader.Number(Column::kMeanSquared, kHalvedBits);
  set.sum_mean_cubed = static_cast<Int128>(CubesAround(q, count, mean, set.sum_mean_squared) +
                                           reader.Signed(Column::kMeanCubed));
  set.sum_inverse_calls = reference.inverse_calls + reader.Signed(Column::kInverseCalls);
  set.sum_within_freedom = reference.within_freedom + reader.Signed(Column::kWithinFreedom);
  set.sum_within_squares = reader.Number(Column::kWithinSquares);
  return set;
}

void WriteBucket(unsigned slot, const Bucket& bucket, NumberWriter& writer) {
  const auto& [count, sum, squares] = bucket;
  writer.Number(Column::kCount, count);
  writer.SignedNear(Column::kSum, sum - ExpectedSum(slot, count), ExpectedSumBits(slot, count));
  const Squares expected = ExpectedSquares(slot, count, sum);
  if (squares == expected.least) {
    writer.Byte(Column::kSquares, 0);
  } else {
    writer.SignedNear(Column::kSquares, SignedHalf(squares - expected.expected),
                      ExpectedSquaresBits(slot, count));
  }
}

Bucket ReadBucket(unsigned slot, NumberReader& untrusted_reader) {
  NumberReader& reader = untrusted_reader;
  const std::uint64_t count = Narrow(reader.Number(Column::kCount), reader);
  if (count == 0) {
    reader.Fail();
    return {};
  }
  const Uint128 sum =
      ExpectedSum(slot, count) + reader.SignedNear(Column::kSum, ExpectedSumBits(slot, count));
  const Squares expected = ExpectedSquares(slot, count, sum);
  const std::uint8_t byte = reader.Byte(Column::kSquares);
  if (byte == 0) return {.count = count, .sum = sum, .sum_of_squares = expected.least};
  const Uint128 half = reader.SignedNear(byte, ExpectedSquaresBits(slot, count), kHalvedBits);
  const Uint128 squares = expected.expected + 2 * half;
  if (squares == expected.least) reader.Fail();  // it has a shorter form
  return {.count = count, .sum = sum, .sum_of_squares = squares};
}

Uint128 ExpectedBoundedCalls(const ContributionScalars& scalars) {
  return scalars.sum_within_freedom + scalars.contributions;
}

Uint128 ExpectedBoundedSum(const Bucket& totals, std::uint64_t bounded_calls) {
  constexpr unsigned kFractionBits = 8;
  return (totals.sum << kFractionBits) / totals.count * bounded_calls >> kFractionBits;
}

}  // namespace fieldcost::wire
