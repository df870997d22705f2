#include "common/stats/contribution.h"

#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "common/base/check.h"
#include "common/stats/floor_divide.h"
#include "common/stats/quarter_scalars.h"

namespace fieldcost::stats {
namespace {

constexpr int kLogBits = 16;                                         // Q16
constexpr std::int64_t kLowestLog = -(std::int64_t{1} << kLogBits);  // a cost of zero
constexpr std::int64_t kHighestLog = (std::int64_t{64} << kLogBits) - 1;
constexpr unsigned kInverseBits = 32;  // Q32
constexpr Int128 kLowestCube = Int128{kLowestLog} * kLowestLog * kLowestLog;
constexpr Int128 kHighestCube = Int128{kHighestLog} * kHighestLog * kHighestLog;
constexpr std::uint64_t kMostContributions = std::uint64_t{1} << 56;  // sums of cubes: 2^122

int LeadingZeros(Uint128 value) {
  return High64(value) != 0 ? std::countl_zero(High64(value)) : 64 + std::countl_zero(Low64(value));
}

Uint128 Magnitude(Int128 value) {
  return value < 0 ? Uint128{0} - static_cast<Uint128>(value) : static_cast<Uint128>(value);
}

std::int64_t LogOf(unsigned slot, const Bucket& bucket) {
  if (slot == 0 || bucket.sum == 0) return kLowestLog;
  return Log2RatioQ16(bucket.sum, bucket.count);
}

// The logarithm by floating point, unless it is so close to a step that rounding could matter: the
// quotient is off by less than 2^-51 of itself and log2() by less than 2^-40, so the result, scaled
// by 2^16, by less than a thousandth of kDoubt. Hence the same on every machine all the same.
std::optional<std::int32_t> NearLog2RatioQ16(std::uint64_t numerator, std::uint64_t denominator) {
  constexpr double kDoubt = 1e-4;
  const double log = std::log2(static_cast<double>(numerator) / static_cast<double>(denominator)) *
                     (1 << kLogBits);
  const double step = std::floor(log);
  if (log - step < kDoubt || log - step > 1 - kDoubt) return std::nullopt;
  return static_cast<std::int32_t>(step);
}

Error ImpossibleScalars(std::string_view rule) {
  return Fail(ErrorCode::kCorrupt, "contribution scalars are impossible: {}", rule);
}

// Numbers x >= 0 with these sums of x, x^2 and x^3 obey (sum x^2)^2 <= sum x * sum x^3.
bool AreMomentsOfSome(Uint128 first, Uint128 second, Uint128 third) {
  return Multiply(second, second) <= Multiply(first, third);
}

// REQUIRES: all but the cubes is valid.
Status ValidateCubes(const ContributionScalars& untrusted_scalars) {
  const ContributionScalars& s = untrusted_scalars;
  const Int128 n = s.contributions;
  if (s.sum_mean_cubed < n * kLowestCube || s.sum_mean_cubed > n * kHighestCube) {
    return ImpossibleScalars("a cube out of range");
  }
  if ((s.sum_mean_cubed - s.sum_mean) % 6 != 0) {  // m^3 - m = (m - 1) m (m + 1)
    return ImpossibleScalars("means and their cubes differ by no multiple of 6");
  }
  // The distances from either end of the range are not negative. All sums are below 2^126.
  const auto squares = static_cast<Int128>(s.sum_mean_squared);
  for (const Int128 end : {Int128{kLowestLog}, Int128{kHighestLog}}) {
    const Int128 first = s.sum_mean - n * end;
    const Int128 second = squares - 2 * end * s.sum_mean + n * end * end;
    const Int128 third =
        s.sum_mean_cubed - 3 * end * squares + 3 * end * end * s.sum_mean - n * end * end * end;
    if ((first < 0) != (third < 0) && first != 0 && third != 0) {
      return ImpossibleScalars("cubes beyond the range");
    }
    if (!AreMomentsOfSome(Magnitude(first), Magnitude(second), Magnitude(third))) {
      return ImpossibleScalars("cubes that the squares do not allow");
    }
  }
  return {};
}

}  // namespace

std::int32_t Log2RatioQ16(Uint128 numerator, std::uint64_t denominator) {
  FIELDCOST_CHECK(numerator != 0 && denominator != 0);
  if (High64(numerator) != 0) return Log2RatioQ16Wide(numerator, denominator);
  if (const auto near = NearLog2RatioQ16(Low64(numerator), denominator)) return *near;
  const int numerator_shift = std::countl_zero(Low64(numerator));
  const int denominator_shift = std::countl_zero(denominator);
  const std::uint64_t n = Low64(numerator) << numerator_shift;
  const std::uint64_t d = denominator << denominator_shift;
  const bool below_one = n < d;
  // The ratio is in [mantissa, mantissa + error], in units of 2^-63. The long way stays between the
  // two as well, so that every bit on which they agree is the one that it would find.
  auto mantissa = static_cast<std::uint64_t>((Uint128{n} << (below_one ? 64 : 63)) / d);
  Uint128 error = 1;
  std::int32_t result = denominator_shift - numerator_shift - (below_one ? 1 : 0);
  for (int bit = 0; bit < kLogBits; ++bit) {
    const Uint128 square = Uint128{mantissa} * mantissa;
    const bool at_least_two = square >> 127 != 0;
    error = 4 * error + 2;  // (m + e)^2 - m^2 < 4e + e^2, and what the shift drops
    if (at_least_two) error = error / 2 + 1;
    mantissa = static_cast<std::uint64_t>(square >> (at_least_two ? 64 : 63));
    if (!at_least_two && High64(mantissa + error) != 0) {
      return Log2RatioQ16Wide(numerator, denominator);
    }
    result = result * 2 + (at_least_two ? 1 : 0);
  }
  return result;
}

std::int32_t Log2RatioQ16Wide(Uint128 numerator, std::uint64_t denominator) {
  const int numerator_shift = LeadingZeros(numerator);
  const int denominator_shift = std::countl_zero(denominator);
  const Uint128 n = numerator << numerator_shift;
  const std::uint64_t d = denominator << denominator_shift;
  // The ratio n / d to 64 fractional bits by long division; its integer part has 64 or 65 bits.
  const Uint128 whole = n / d;
  const auto fraction = static_cast<std::uint64_t>(((n % d) << 64) / d);
  int exponent = 63 + denominator_shift - numerator_shift;
  Uint128 mantissa = (whole << 64) | fraction;  // Q127, in [1, 2)
  if (High64(whole) != 0) {
    mantissa = (Uint128{1} << 127) | (((whole << 64) | fraction) >> 1);
    ++exponent;
  }
  // Each squaring yields one more bit of the logarithm.
  std::int32_t result = exponent;
  for (int bit = 0; bit < kLogBits; ++bit) {
    const WideProduct square = Multiply(mantissa, mantissa);
    const bool at_least_two = High64(square.high) >> 63 != 0;
    mantissa = at_least_two ? square.high : (square.high << 1) | (square.low >> 127);
    result = result * 2 + (at_least_two ? 1 : 0);
  }
  return result;
}

ContributionScalars ScalarsOf(const CostHistogram& histogram) {
  const std::uint64_t calls = histogram.count();
  const std::uint64_t timed = calls - histogram.untimed();
  if (calls == 0) return {};
  struct Part {
    std::uint64_t count;
    std::int64_t log;
  };
  std::array<Part, shm::kBucketSlots> parts;
  std::size_t used = 0;
  Int128 log_sum = 0;
  histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
    if (bucket.count == 0) return;
    parts[used] = {.count = bucket.count, .log = LogOf(slot, bucket)};
    log_sum += Int128{parts[used].count} * parts[used].log;
    ++used;
  });
  const Int128 mean = FloorDivide(log_sum, calls);
  Uint128 squares = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const Int128 distance = parts[i].log - mean;
    squares += parts[i].count * static_cast<Uint128>(distance * distance);
  }
  return {.contributions = 1,
          .sum_mean = mean,
          .sum_mean_squared = static_cast<Uint128>(mean * mean),
          .sum_inverse_calls = (std::uint64_t{1} << kInverseBits) / timed,
          // Scaled to the calls that were timed; both factors of each product are below 2^64.
          .sum_within_squares = squares / calls * timed + squares % calls * timed / calls,
          .sum_within_freedom = timed - 1,
          .sum_mean_cubed = mean * mean * mean};
}

void ContributionScalars::Merge(const ContributionScalars& other) {
  contributions += other.contributions;
  sum_mean =
      static_cast<Int128>(static_cast<Uint128>(sum_mean) + static_cast<Uint128>(other.sum_mean));
  sum_mean_squared += other.sum_mean_squared;
  sum_inverse_calls += other.sum_inverse_calls;
  sum_within_squares += other.sum_within_squares;
  sum_within_freedom += other.sum_within_freedom;
  sum_mean_cubed = static_cast<Int128>(static_cast<Uint128>(sum_mean_cubed) +
                                       static_cast<Uint128>(other.sum_mean_cubed));
}

Status ContributionScalars::Subtract(const ContributionScalars& other) {
  if (other.contributions > contributions || other.sum_mean_squared > sum_mean_squared ||
      other.sum_inverse_calls > sum_inverse_calls ||
      other.sum_within_squares > sum_within_squares ||
      other.sum_within_freedom > sum_within_freedom) {
    return Fail(ErrorCode::kInvalidArgument,
                "cannot subtract: the contribution is not part of the sums");
  }
  ContributionScalars result;
  result.contributions = contributions - other.contributions;
  result.sum_mean =
      static_cast<Int128>(static_cast<Uint128>(sum_mean) - static_cast<Uint128>(other.sum_mean));
  result.sum_mean_squared = sum_mean_squared - other.sum_mean_squared;
  result.sum_inverse_calls = sum_inverse_calls - other.sum_inverse_calls;
  result.sum_within_squares = sum_within_squares - other.sum_within_squares;
  result.sum_within_freedom = sum_within_freedom - other.sum_within_freedom;
  result.sum_mean_cubed = static_cast<Int128>(static_cast<Uint128>(sum_mean_cubed) -
                                              static_cast<Uint128>(other.sum_mean_cubed));
  if (const Status valid = Validate(result); !valid) {
    return Fail(ErrorCode::kInvalidArgument, "cannot subtract: {}", valid.error().message);
  }
  *this = result;
  return {};
}

Status Validate(const ContributionScalars& untrusted_scalars) {
  const ContributionScalars& s = untrusted_scalars;
  if (s.contributions == 0) {
    if (s != ContributionScalars{}) return ImpossibleScalars("sums without a contribution");
    return {};
  }
  if (s.contributions > kMostContributions)
    return ImpossibleScalars("more contributions than 2^56");
  const Int128 n = s.contributions;
  if (s.sum_mean < n * kLowestLog || s.sum_mean > n * kHighestLog) {
    return ImpossibleScalars("a mean out of range");
  }
  const Uint128 magnitude = Magnitude(s.sum_mean);
  if (Multiply(magnitude, magnitude) > Multiply(s.contributions, s.sum_mean_squared)) {
    return ImpossibleScalars("squares of means below those of equal means");
  }
  // (m - lowest)(highest - m) >= 0 for every mean m; all terms are below 2^110.
  const Int128 most = (kLowestLog + kHighestLog) * s.sum_mean - n * kLowestLog * kHighestLog;
  if (s.sum_mean_squared > static_cast<Uint128>(most)) {
    return ImpossibleScalars("squares of means above those of extreme means");
  }
  if (((static_cast<Uint128>(s.sum_mean) ^ s.sum_mean_squared) & 1U) != 0) {
    return ImpossibleScalars("means and their squares of different parity");
  }
  const Uint128 most_inverse = Uint128{s.contributions} << kInverseBits;
  if (s.sum_inverse_calls > most_inverse)
    return ImpossibleScalars("more inverse calls than 1 each");
  // Every contribution of one call, and only it, adds 1 inverse call and no freedom.
  if ((s.sum_within_freedom == 0) != (s.sum_inverse_calls == most_inverse)) {
    return ImpossibleScalars("degrees of freedom and inverse calls disagree");
  }
  if (s.sum_within_freedom > Uint128{s.contributions} * (~std::uint64_t{0} - 1)) {
    return ImpossibleScalars("more degrees of freedom than calls");
  }
  constexpr auto kRange = static_cast<std::uint64_t>(kHighestLog - kLowestLog);
  const Uint128 calls = s.sum_within_freedom + s.contributions;
  if (WideProduct{.high = 0, .low = s.sum_within_squares} >
      Multiply(calls, Uint128{kRange} * kRange)) {
    return ImpossibleScalars("more variance than the range allows");
  }
  if (s.sum_within_freedom == 0 && s.sum_within_squares != 0) {
    return ImpossibleScalars("variance without degrees of freedom");
  }
  return ValidateCubes(s);
}

Status Validate(const QuarterScalars& untrusted_scalars, const ContributionScalars& row) {
  const QuarterScalars& week = untrusted_scalars;
  if ((week.week == 0) != (week.scalars.contributions == 0)) {
    return ImpossibleScalars("a week without contributions, or these without a week");
  }
  FIELDCOST_TRY(Validate(week.scalars));
  ContributionScalars rest = row;
  if (!rest.Subtract(week.scalars))
    return ImpossibleScalars("those of a week are not part of the row's");
  return {};
}

}  // namespace fieldcost::stats
