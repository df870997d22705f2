#include "common/stats/quantiles.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/check.h"

namespace fieldcost::stats {
namespace {

// With a smaller shape parameter, nearly all of the beta distribution is at one edge of the bucket,
// and the true value may be at the other. The interval is then the better estimate (FIGURES.md
// shows by how much).
constexpr double kSmallestShape = 0.2;
constexpr double kLargestShape = 20000;  // above it the beta is indistinguishable from the mean
constexpr int kFractionSteps = 500;      // of the continued fraction
constexpr int kBisectionSteps = 60;
constexpr double kRoundingGuard = 1e-12;  // relative; outward, for bounds computed in doubles
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz
// method.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double result = d;
  for (int m = 1; m <= kFractionSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double numerator : {even, odd}) {
      d = 1 + numerator * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + numerator / c;
      if (std::abs(c) < kTiny) c = kTiny;
      change = c * d;
      result *= change;
    }
    if (std::abs(change - 1) < 1e-13) break;
  }
  return result;
}

// The distribution function of Beta(a, b) at x in [0, 1]. `log_beta` = ln B(a, b).
double BetaCdf(double a, double b, double log_beta, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta);
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// ln Gamma, without lgamma()'s global sign variable, so it is thread-safe.
double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double BetaQuantile(double a, double b, double p) {
  const double log_beta = LogGamma(a) + LogGamma(b) - LogGamma(a + b);
  double low = 0;
  double high = 1;
  for (int step = 0; step < kBisectionSteps; ++step) {
    const double middle = (low + high) / 2;
    (BetaCdf(a, b, log_beta, middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The value of rank `rank` (1..count) among a bucket's values, bounded by the bucket's sums.
struct RankInBucket {
  unsigned slot;
  const Bucket& bucket;
  std::uint64_t rank;
  double mean;
  double deviation;  // population standard deviation
};

void Bound(const RankInBucket& at, Quantile& quantile) {
  const Bucket& bucket = at.bucket;
  const std::uint64_t min = shm::SlotMin(at.slot);
  const std::uint64_t max = shm::SlotMax(at.slot);
  const std::uint64_t below = at.rank - 1;
  const std::uint64_t above = bucket.count - at.rank;
  // Bounds from the sum, exact: the values from this rank up are at least x, the others at least
  // min; likewise downwards.
  const Uint128 least_below = Uint128{below} * min;
  const Uint128 most_above = Uint128{above} * max;
  Uint128 high = std::min<Uint128>(max, (bucket.sum - least_below) / (Uint128{above} + 1));
  Uint128 low = min;
  if (bucket.sum > most_above) {
    low = std::max<Uint128>(low, (bucket.sum - most_above + at.rank - 1) / at.rank);
  }
  quantile.low = static_cast<double>(low);
  quantile.high = static_cast<double>(high);
  // Bounds of an order statistic from mean and deviation (Hawkins 1971).
  const double guard = kRoundingGuard * static_cast<double>(max);
  const double down = std::sqrt(static_cast<double>(above) / static_cast<double>(at.rank));
  const double up = std::sqrt(static_cast<double>(below) / (static_cast<double>(above) + 1));
  quantile.low = std::max(quantile.low, std::ceil(at.mean - at.deviation * down - guard));
  quantile.high = std::min(quantile.high, std::floor(at.mean + at.deviation * up + guard));
  if (quantile.low >= kExactIntegers) quantile.low = std::nextafter(quantile.low, 0.0);
  if (quantile.high >= kExactIntegers) quantile.high = std::nextafter(quantile.high, HUGE_VAL);
}

// The value with the same relative error if the true value is at either end of the interval: at
// most a third, since a bucket is an octave.
double MiddleOf(const Quantile& quantile) {
  const double sum = quantile.low + quantile.high;
  return sum > 0 ? std::round(2 * quantile.low * quantile.high / sum) : 0;
}

// REQUIRES: `interval` is that of the same rank.
double Estimate(const RankInBucket& at, const Quantile& interval) {
  if (at.deviation == 0) return at.mean;
  if (at.bucket.count == 2) return at.rank == 1 ? at.mean - at.deviation : at.mean + at.deviation;
  // A beta distribution on the bucket's range, in which each integer extends half a unit to either
  // side.
  const double origin = static_cast<double>(shm::SlotMin(at.slot)) - 0.5;
  const double width = static_cast<double>(shm::SlotMax(at.slot)) + 0.5 - origin;
  const double mean = (at.mean - origin) / width;
  const double variance = at.deviation * at.deviation / (width * width);
  const double shapes = mean * (1 - mean) / variance - 1;
  const double a = mean * shapes;
  const double b = (1 - mean) * shapes;
  if (!(std::min(a, b) >= kSmallestShape)) return MiddleOf(interval);
  if (!(std::max(a, b) <= kLargestShape)) return at.mean;
  const double p = (static_cast<double>(at.rank) - 0.5) / static_cast<double>(at.bucket.count);
  return std::round(origin + width * BetaQuantile(a, b, p));
}

Quantile EstimateInBucket(unsigned slot, const Bucket& bucket, std::uint64_t rank) {
  const RankInBucket at{.slot = slot,
                        .bucket = bucket,
                        .rank = rank,
                        .mean = static_cast<double>(bucket.sum) / static_cast<double>(bucket.count),
                        .deviation = StandardDeviation(bucket)};
  Quantile quantile;
  Bound(at, quantile);
  quantile.high = std::max(quantile.high, quantile.low);
  quantile.estimate = std::clamp(Estimate(at, quantile), quantile.low, quantile.high);
  return quantile;
}

// q as the decimal fraction that was written: 0.55 is 55/100, not the nearest double, whose product
// with 100 is above 55.
struct Decimal {
  std::uint64_t numerator = 0;  // below 10^17
  int digits = 0;               // the denominator is 10^digits

  explicit Decimal(double q) {
    std::array<char, 32> text;  // the shortest that parses to q: "5.5e-01"
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), q, std::chars_format::scientific).ptr;
    const char* at = text.data();
    bool is_fraction = false;
    for (; at != end && *at != 'e'; ++at) {
      if (*at == '.') {
        is_fraction = true;
        continue;
      }
      numerator = numerator * 10 + static_cast<std::uint64_t>(*at - '0');
      if (is_fraction) ++digits;
    }
    int exponent = 0;
    if (at != end) std::from_chars(at + 1 + (at[1] == '+' ? 1 : 0), end, exponent);
    digits -= exponent;
  }
};

// The rank, 1..count, of the lower q-quantile: ceil(q * count), exactly. REQUIRES: 0 < q < 1.
std::uint64_t RankOf(std::uint64_t count, double q) {
  FIELDCOST_CHECK(q > 0 && q < 1);
  constexpr int kMostDigits = 37;  // with more, q * count is below 1; 10^37 fits
  const Decimal decimal(q);
  if (decimal.digits > kMostDigits) return 1;
  Uint128 denominator = 1;
  for (int i = 0; i < decimal.digits; ++i) denominator *= 10;
  const Uint128 product = Uint128{decimal.numerator} * count;  // below 2^57 * 2^64
  const auto rank = static_cast<std::uint64_t>((product + denominator - 1) / denominator);
  return std::clamp<std::uint64_t>(rank, 1, count);
}

// ceil(part / whole * count), in 1..count. REQUIRES: 0 < part <= whole < 2^96.
std::uint64_t RankAtShare(Uint128 part, Uint128 whole, std::uint64_t count) {
  while (High64(whole) != 0) {  // more than 2^32 contributions: reduce to 64 bits
    whole = (whole >> 1) + (whole & 1);
    part >>= 1;
  }
  const auto rank = static_cast<std::uint64_t>((part * count + whole - 1) / whole);
  return std::clamp<std::uint64_t>(rank, 1, count);
}

}  // namespace

Quantile EstimateQuantile(const CostHistogram& histogram, double q) {
  const std::uint64_t count = histogram.count();
  if (count == 0) return {};
  std::uint64_t rank = RankOf(count, q);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const Bucket& bucket = histogram.bucket(slot);
    if (rank <= bucket.count) return EstimateInBucket(slot, bucket, rank);
    rank -= bucket.count;
  }
  return {};  // only a saturated histogram has no such rank
}

Quantile EstimateWeightedQuantile(const CostHistogram& histogram, const AgentWeights& weights,
                                  double q) {
  const Uint128 total = weights.Total();
  if (total == 0) return {};
  // Weights of more than 2^32 contributions are shifted until their total fits 64 bits.
  unsigned shift = 0;
  while (High64(total >> shift) != 0) ++shift;
  Uint128 wanted = std::min(total, Uint128{RankOf(Low64(total >> shift), q)} << shift);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const Uint128 weight = weights.slots[slot];
    if (wanted > weight) {
      wanted -= weight;
      continue;
    }
    const Bucket& bucket = histogram.bucket(slot);
    FIELDCOST_CHECK(bucket.count != 0);
    const Quantile call = EstimateInBucket(slot, bucket, RankAtShare(wanted, weight, bucket.count));
    return {.estimate = call.estimate,
            .low = static_cast<double>(shm::SlotMin(slot)),
            .high = static_cast<double>(shm::SlotMax(slot))};
  }
  return {};  // not reached: the weights add up to their total
}

}  // namespace fieldcost::stats
