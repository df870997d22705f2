#include "aggregator/store/compact_row.h"

#include <optional>
#include <utility>

#include "common/shm/log2_bucket.h"
#include "common/stats/uint128.h"

namespace fieldcost::store {
namespace {

void AddBucket(CompactBucket& bucket, const CompactBucket& other, bool& saturated) {
  stats::Bucket& to = bucket.sums;
  const stats::Bucket& from = other.sums;
  to.count = stats::SaturatingAdd(to.count, from.count, saturated);
  to.sum = stats::SaturatingAdd(to.sum, from.sum, saturated);
  to.sum_of_squares = stats::SaturatingAdd(to.sum_of_squares, from.sum_of_squares, saturated);
  if (const stats::Uint128 weight = other.weight(); weight != 0) {
    bucket.set_weight(bucket.weight() + weight);
  }
}

// Subtracts `from`. Returns false, leaving `to` invalid, unless `from` can be a part of it.
bool SubtractBucket(CompactBucket& to, const CompactBucket& from) {
  const stats::Bucket& less = from.sums;
  if (less.count > to.sums.count || less.sum > to.sums.sum ||
      less.sum_of_squares > to.sums.sum_of_squares || from.weight() > to.weight()) {
    return false;
  }
  to.sums.count -= less.count;
  to.sums.sum -= less.sum;
  to.sums.sum_of_squares -= less.sum_of_squares;
  to.set_weight(to.weight() - from.weight());
  return stats::ValidateBucket(to.slot, to.sums).has_value() &&
         (to.sums.count != 0 || to.weight() == 0);
}

// Returns `buckets` minus `taken`; nullopt if it does not contain them. For saturated rows, only
// weights are subtracted.
std::optional<std::vector<CompactBucket>> BucketsWithout(const std::vector<CompactBucket>& buckets,
                                                         const std::vector<CompactBucket>& taken,
                                                         bool saturated) {
  std::vector<CompactBucket> left;
  left.reserve(buckets.size());
  auto next = taken.begin();
  for (CompactBucket bucket : buckets) {
    if (next != taken.end() && next->slot == bucket.slot) {
      if (saturated) {
        if (next->weight() > bucket.weight()) return std::nullopt;
        bucket.set_weight(bucket.weight() - next->weight());
      } else if (!SubtractBucket(bucket, *next)) {
        return std::nullopt;
      }
      ++next;
    }
    if (bucket.sums.count != 0) left.push_back(bucket);
  }
  if (next != taken.end()) return std::nullopt;
  return left;
}

// Whether there are no weights, or those of all `contributions`.
bool AreComplete(const std::vector<CompactBucket>& buckets, std::uint64_t contributions) {
  stats::Uint128 total = 0;
  for (const CompactBucket& bucket : buckets) total += bucket.weight();
  return total == 0 || total == stats::Uint128{contributions} << stats::kWeightBits;
}

// Calls and sum over all buckets, saturating.
stats::Bucket TotalsOf(const std::vector<CompactBucket>& buckets) {
  stats::Bucket totals;
  bool overflows = false;
  for (const CompactBucket& bucket : buckets) {
    totals.count = stats::SaturatingAdd(totals.count, bucket.sums.count, overflows);
    totals.sum = stats::SaturatingAdd(totals.sum, bucket.sums.sum, overflows);
  }
  return totals;
}

}  // namespace

void CompactRow::Clear() {
  scalars = {};
  buckets.clear();
  sizes.buckets.clear();
  untimed = 0;
  saturated = false;
}

void CompactRow::Add(const RowSums& other) {
  if (other.scalars->contributions != 0) scalars.Merge(*other.scalars);
  saturated = saturated || other.saturated;
  untimed = stats::SaturatingAdd(untimed, other.untimed, saturated);
  if (!other.sizes.empty()) sizes.Add(other.sizes);
  if (buckets.empty()) {
    buckets.assign(other.buckets.begin(), other.buckets.end());
    return;
  }
  std::size_t at = 0;
  for (const CompactBucket& bucket : other.buckets) {
    while (at < buckets.size() && buckets[at].slot < bucket.slot) ++at;
    if (at < buckets.size() && buckets[at].slot == bucket.slot) {
      AddBucket(buckets[at], bucket, saturated);
    } else {
      buckets.insert(buckets.begin() + static_cast<std::ptrdiff_t>(at), bucket);
    }
  }
}

Status CompactRow::Subtract(const CompactRow& other) {
  const Error not_contained =
      Fail(ErrorCode::kCorrupt, "the sums do not contain the values to subtract");
  stats::ContributionScalars left_scalars = scalars;
  if (other.scalars.contributions != 0 && !left_scalars.Subtract(other.scalars)) {
    return not_contained;
  }
  const bool stuck = saturated || other.saturated;
  auto left = BucketsWithout(buckets, other.buckets, stuck);
  if (!left) return not_contained;
  if (left->empty() && left_scalars.contributions != 0) return not_contained;
  if (!AreComplete(*left, left_scalars.contributions)) return not_contained;
  stats::ContributionSizes left_sizes = sizes;
  if (!left_sizes.Subtract(other.sizes)) return not_contained;
  const stats::Bucket left_totals = TotalsOf(*left);
  if (!stats::Validate(left_sizes.buckets, left_scalars.contributions, left_totals)) {
    return not_contained;
  }
  if (!stuck) {
    if (other.untimed > untimed) return not_contained;
    const std::uint64_t left_untimed = untimed - other.untimed;
    if (!stats::ValidateTimed(left_totals.count, left_untimed, left->size())) return not_contained;
    untimed = left_untimed;
  }
  buckets = std::move(*left);
  scalars = left_scalars;
  sizes = std::move(left_sizes);
  saturated = stuck;
  return {};
}

void CompactRow::SetHistogram(const stats::CostHistogram& histogram) {
  buckets.clear();
  untimed = histogram.untimed();
  saturated = histogram.saturated();
  histogram.ForEachUsed([this](unsigned slot, const stats::Bucket& sums) {
    if (sums.count != 0) buckets.emplace_back(static_cast<std::uint8_t>(slot), sums);
  });
}

void CompactRow::SetWeights(const stats::AgentWeights& weights) {
  for (CompactBucket& bucket : buckets) bucket.set_weight(weights.slots[bucket.slot]);
}

stats::CostHistogram CompactRow::ToHistogram() const {
  stats::CostHistogram histogram;
  for (const CompactBucket& bucket : buckets) histogram.SetBucket(bucket.slot, bucket.sums);
  histogram.SetUntimed(untimed);
  return histogram;
}

stats::AgentWeights CompactRow::ToWeights() const {
  stats::AgentWeights weights;
  for (const CompactBucket& bucket : buckets) weights.slots[bucket.slot] = bucket.weight();
  return weights;
}

std::size_t CompactRow::MemoryBytes() const {
  return sizeof(CompactRow) + buckets.capacity() * sizeof(CompactBucket) +
         sizes.buckets.capacity() * sizeof(stats::SizeBucket);
}

}  // namespace fieldcost::store
