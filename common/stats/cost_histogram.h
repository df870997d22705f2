#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/base/result.h"
#include "common/shm/log2_bucket.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

// Exact sums over the values of one bucket.
struct Bucket {
  std::uint64_t count = 0;
  Uint128 sum = 0;
  Uint128 sum_of_squares = 0;
  bool operator==(const Bucket&) const = default;
};

// The cost of one API in one metric: 65 log2 buckets with count, sum and sum of squares each.
// Additive: merging any parts in any order and grouping gives the same bits. A plain value of about
// 3 KiB; not thread-safe. Slots are those of common/shm/log2_bucket.h. Most histograms use few of
// them; only used slots are visited.
//
// Where one call in N was measured, each measured value represents N: it is in count, sum and sum
// of squares N times, so that these cover all calls. The number of measured calls is stored
// separately, since it is the n of every test and threshold.
class CostHistogram {
 public:
  // Adds one measured value (unit of the metric: ns or bytes) that represents `weight` values.
  // REQUIRES: weight > 0.
  void Add(std::uint64_t value, std::uint64_t weight = 1);

  // Adds `other`'s sums. A count saturates at 2^64-1, a sum at 2^128-1, which sets saturated(); the
  // order of merging does not matter even then.
  void Merge(const CostHistogram& other);

  // Subtracts `other`, which was added before. kInvalidArgument, without a change, unless neither
  // is saturated, every sum of `other` is at most ours and the result is a valid histogram.
  Status Subtract(const CostHistogram& other);

  const Bucket& bucket(unsigned slot) const { return buckets_[slot]; }
  void SetBucket(unsigned slot, const Bucket& bucket) {
    buckets_[slot] = bucket;
    Mark(slot, bucket != Bucket{});
  }
  // The part of the count that is represented by measured values but was not measured.
  std::uint64_t untimed() const { return untimed_; }
  void SetUntimed(std::uint64_t untimed) { untimed_ = untimed; }
  // The number of measured values; at most count(). REQUIRES, for a meaningful result: the
  // histogram is valid.
  std::uint64_t timed() const { return count() - untimed_; }

  // Makes it empty again; the cost is proportional to the used slots.
  void Clear();

  // Whether anything but zeros is in the bucket.
  bool IsUsed(unsigned slot) const {
    return slot == kLastSlot ? last_used_ : ((used_ >> slot) & 1U) != 0;
  }
  // The number of used buckets.
  unsigned used_count() const {
    return static_cast<unsigned>(std::popcount(used_)) + (last_used_ ? 1U : 0U);
  }
  // Calls visit(slot, bucket) for each used bucket in ascending order.
  template <typename Visit>
  void ForEachUsed(Visit visit) const {
    for (std::uint64_t left = used_; left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(left));
      visit(slot, buckets_[slot]);
    }
    if (last_used_) visit(kLastSlot, buckets_[kLastSlot]);
  }
  bool saturated() const { return saturated_; }
  bool empty() const { return count() == 0; }

  // Totals over all buckets, saturated at the maximum of their type: all at once, or one at a time.
  Bucket Totals() const;
  std::uint64_t count() const;
  Uint128 sum() const;
  Uint128 sum_of_squares() const;

  // Serves display only; 0 if empty.
  double Mean() const;
  double StandardDeviation() const;

  bool operator==(const CostHistogram&) const = default;

 private:
  static constexpr unsigned kLastSlot = shm::kBucketSlots - 1;
  static_assert(kLastSlot == 64, "a word for all slots but one");

  void Mark(unsigned slot, bool used) {
    if (slot == kLastSlot) {
      last_used_ = used;
    } else {
      used_ = (used_ & ~(std::uint64_t{1} << slot)) | (std::uint64_t{used} << slot);
    }
  }

  std::array<Bucket, shm::kBucketSlots> buckets_{};
  std::uint64_t used_ = 0;  // bit k: slot k is used
  bool last_used_ = false;  // the same for slot 64
  bool saturated_ = false;
  std::uint64_t untimed_ = 0;
};

// The population standard deviation of the values summed in `bucket`, 0 if it is empty. No
// cancellation: the difference of the moments is exact.
double StandardDeviation(const Bucket& bucket);

// Checks whether `count` integers in [SlotMin, SlotMax] can have these sums:
// count*min <= sum <= count*max; sumsq is at least that of the most equal integers with this sum
// (which implies Cauchy-Schwarz, sum^2 <= count*sumsq); sumsq <= (min+max)*sum - count*min*max;
// sumsq and sum have the same parity; all are zero if count is zero. Each rule is linear in the
// sums, so valid buckets merge into valid ones. Exact integer arithmetic. kCorrupt, with the slot
// and the broken rule. REQUIRES: slot < kBucketSlots.
Status ValidateBucket(unsigned slot, const Bucket& untrusted_bucket);

// kCorrupt unless `count` - `untimed` can be the number of measured values: at least one for each
// of `used_buckets`.
Status ValidateTimed(std::uint64_t count, std::uint64_t untrusted_untimed,
                     std::size_t used_buckets);

// Calls ValidateBucket() for every bucket. Also kCorrupt if the histogram is saturated, a total
// exceeds its type (count 2^64-1, sums 2^128-1), or there are fewer measured values than used
// buckets.
Status Validate(const CostHistogram& untrusted_histogram);

}  // namespace fieldcost::stats
