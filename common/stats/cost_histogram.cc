#include "common/stats/cost_histogram.h"

#include <cmath>

#include "common/base/check.h"

namespace fieldcost::stats {
namespace {

// The sums of `count` equal values.
Bucket Equal(std::uint64_t value, std::uint64_t count, bool& saturated) {
  const WideProduct squares = Multiply(Uint128{value} * value, count);
  if (squares.high != 0) saturated = true;
  return {.count = count,
          .sum = Uint128{value} * count,
          .sum_of_squares = squares.high != 0 ? ~Uint128{0} : squares.low};
}

void AddTo(Bucket& bucket, const Bucket& other, bool& saturated) {
  bucket.count = SaturatingAdd(bucket.count, other.count, saturated);
  bucket.sum = SaturatingAdd(bucket.sum, other.sum, saturated);
  bucket.sum_of_squares = SaturatingAdd(bucket.sum_of_squares, other.sum_of_squares, saturated);
}

Error Broken(unsigned slot, std::string_view rule) {
  return Fail(ErrorCode::kCorrupt, "bucket slot {} is impossible: {}", slot, rule);
}

}  // namespace

void CostHistogram::Add(std::uint64_t value, std::uint64_t weight) {
  FIELDCOST_CHECK(weight > 0);
  const unsigned slot = shm::SlotOf(value);
  AddTo(buckets_[slot], Equal(value, weight, saturated_), saturated_);
  Mark(slot, true);
  untimed_ = SaturatingAdd(untimed_, weight - 1, saturated_);
}

void CostHistogram::Merge(const CostHistogram& other) {
  saturated_ = saturated_ || other.saturated_;
  untimed_ = SaturatingAdd(untimed_, other.untimed_, saturated_);
  other.ForEachUsed([this](unsigned slot, const Bucket& bucket) {
    AddTo(buckets_[slot], bucket, saturated_);
    Mark(slot, true);
  });
}

void CostHistogram::Clear() {
  ForEachUsed([this](unsigned slot, const Bucket&) { buckets_[slot] = {}; });
  used_ = 0;
  last_used_ = false;
  saturated_ = false;
  untimed_ = 0;
}

Status CostHistogram::Subtract(const CostHistogram& other) {
  if (saturated_ || other.saturated_) {
    return Fail(ErrorCode::kInvalidArgument, "cannot subtract: a histogram is saturated");
  }
  CostHistogram result = *this;
  if (other.untimed_ > result.untimed_) {
    return Fail(ErrorCode::kInvalidArgument, "cannot subtract: fewer values are represented");
  }
  result.untimed_ -= other.untimed_;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    Bucket ours = result.buckets_[slot];
    const Bucket& theirs = other.buckets_[slot];
    if (theirs.count > ours.count || theirs.sum > ours.sum ||
        theirs.sum_of_squares > ours.sum_of_squares) {
      return Fail(ErrorCode::kInvalidArgument,
                  "cannot subtract: bucket slot {} is not part of the histogram", slot);
    }
    ours.count -= theirs.count;
    ours.sum -= theirs.sum;
    ours.sum_of_squares -= theirs.sum_of_squares;
    result.SetBucket(slot, ours);
  }
  if (const Status valid = Validate(result); !valid) {
    return Fail(ErrorCode::kInvalidArgument, "cannot subtract: what remains is no histogram: {}",
                valid.error().message);
  }
  *this = result;
  return {};
}

Bucket CostHistogram::Totals() const {
  bool saturated = false;
  Bucket total;
  ForEachUsed([&](unsigned, const Bucket& bucket) { AddTo(total, bucket, saturated); });
  return total;
}

std::uint64_t CostHistogram::count() const {
  bool saturated = false;
  std::uint64_t total = 0;
  ForEachUsed([&](unsigned, const Bucket& bucket) {
    total = SaturatingAdd(total, bucket.count, saturated);
  });
  return total;
}

Uint128 CostHistogram::sum() const { return Totals().sum; }

Uint128 CostHistogram::sum_of_squares() const { return Totals().sum_of_squares; }

double CostHistogram::Mean() const {
  const std::uint64_t n = count();
  return n == 0 ? 0.0 : static_cast<double>(sum()) / static_cast<double>(n);
}

double CostHistogram::StandardDeviation() const { return stats::StandardDeviation(Totals()); }

double StandardDeviation(const Bucket& bucket) {
  if (bucket.count == 0) return 0.0;
  const WideProduct square = Multiply(bucket.sum, bucket.sum);
  const WideProduct moment = Multiply(bucket.count, bucket.sum_of_squares);
  if (moment <= square) return 0.0;
  const Uint128 low = moment.low - square.low;
  const Uint128 high = moment.high - square.high - (moment.low < square.low ? 1U : 0U);
  const double spread = std::ldexp(static_cast<double>(high), 128) + static_cast<double>(low);
  return std::sqrt(spread) / static_cast<double>(bucket.count);
}

// The rules on the sum of squares that ValidateBucket() explains. Every product is below 2^126 if
// the sum is below 2^62: the mean and the slot's bounds are at most the sum, or twice it.
static bool AreSquaresPossible(const Bucket& bucket, std::uint64_t min, std::uint64_t max) {
  const std::uint64_t sum = Low64(bucket.sum);
  const std::uint64_t q = sum / bucket.count;
  const Uint128 least = Uint128{sum} * (2 * q + 1) - Uint128{bucket.count * q} * (q + 1);
  const Uint128 most = Uint128{sum} * (min + max) - Uint128{bucket.count} * max * min;
  return bucket.sum_of_squares >= least && bucket.sum_of_squares <= most &&
         ((sum ^ Low64(bucket.sum_of_squares)) & 1U) == 0;
}

Status ValidateBucket(unsigned slot, const Bucket& untrusted_bucket) {
  const auto& [count, sum, sum_of_squares] = untrusted_bucket;
  if (count == 0) {
    if (sum != 0 || sum_of_squares != 0) return Broken(slot, "sums without a count");
    return {};
  }
  const std::uint64_t min = shm::SlotMin(slot);
  const std::uint64_t max = shm::SlotMax(slot);
  if (sum < Uint128{count} * min) return Broken(slot, "sum below count * minimum");
  if (sum > Uint128{count} * max) return Broken(slot, "sum above count * maximum");
  constexpr Uint128 kSmallSum = Uint128{1} << 62;
  if (sum < kSmallSum && AreSquaresPossible(untrusted_bucket, min, max)) return {};
  // For every integer x and q, (x - q)(x - q - 1) >= 0; the sharpest q is the mean's floor.
  // Hence sumsq + count * q * (q + 1) >= (2q + 1) * sum. q <= max, so q + 1 fits 65 bits.
  const Uint128 q = sum / count;
  const WideProduct least = Multiply(sum, 2 * q + 1);
  if (Add(Multiply(Uint128{count} * q, q + 1), sum_of_squares) < least) {
    return Broken(slot, "sum of squares below that of equal values");
  }
  // For every x in [min, max], (x - min)(max - x) >= 0.
  const WideProduct most = Multiply(sum, Uint128{min} + max);
  if (Add(Multiply(Uint128{count} * max, min), sum_of_squares) > most) {
    return Broken(slot, "sum of squares above that of extreme values");
  }
  if (((sum ^ sum_of_squares) & 1U) != 0) return Broken(slot, "sums of different parity");
  return {};
}

Status ValidateTimed(std::uint64_t count, std::uint64_t untrusted_untimed,
                     std::size_t used_buckets) {
  if (untrusted_untimed <= count && count - untrusted_untimed >= used_buckets) return {};
  return Fail(ErrorCode::kCorrupt,
              "of {} values in {} buckets {} are only represented: too few were measured", count,
              used_buckets, untrusted_untimed);
}

Status Validate(const CostHistogram& untrusted_histogram) {
  bool saturated = untrusted_histogram.saturated();
  Bucket total;
  Status status;
  untrusted_histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
    if (status) status = ValidateBucket(slot, bucket);
    AddTo(total, bucket, saturated);
  });
  if (!status) return status;
  if (saturated) return Fail(ErrorCode::kCorrupt, "histogram is saturated: its totals overflow");
  return ValidateTimed(total.count, untrusted_histogram.untimed(),
                       untrusted_histogram.used_count());
}

}  // namespace fieldcost::stats
