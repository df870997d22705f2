#include "aggregator/store/compact_row.h"

#include <utility>

#include "common/shm/log2_bucket.h"
#include "common/stats/uint128.h"

namespace fieldcost::store {
namespace {

void AddBucket(stats::Bucket& to, const stats::Bucket& from, bool& saturated) {
  to.count = stats::SaturatingAdd(to.count, from.count, saturated);
  to.sum = stats::SaturatingAdd(to.sum, from.sum, saturated);
  to.sum_of_squares = stats::SaturatingAdd(to.sum_of_squares, from.sum_of_squares, saturated);
}

}  // namespace

void CompactRow::Clear() {
  scalars = {};
  buckets.clear();
  saturated = false;
}

void CompactRow::Add(const CompactRow& other) {
  if (other.scalars.contributions != 0) scalars.Merge(other.scalars);
  saturated = saturated || other.saturated;
  std::size_t at = 0;
  for (const CompactBucket& bucket : other.buckets) {
    while (at < buckets.size() && buckets[at].slot < bucket.slot) ++at;
    if (at < buckets.size() && buckets[at].slot == bucket.slot) {
      AddBucket(buckets[at].sums, bucket.sums, saturated);
    } else {
      buckets.insert(buckets.begin() + static_cast<std::ptrdiff_t>(at), bucket);
    }
  }
}

Status CompactRow::Subtract(const CompactRow& other) {
  const Error not_contained =
      Fail(ErrorCode::kCorrupt, "the sums do not contain what is to be taken away");
  stats::ContributionScalars left_scalars = scalars;
  if (other.scalars.contributions != 0 && !left_scalars.Subtract(other.scalars)) {
    return not_contained;
  }
  if (saturated || other.saturated) {
    saturated = true;
    scalars = left_scalars;
    return {};
  }
  std::vector<CompactBucket> left;
  left.reserve(buckets.size());
  auto taken = other.buckets.begin();
  for (CompactBucket bucket : buckets) {
    if (taken != other.buckets.end() && taken->slot == bucket.slot) {
      const stats::Bucket& less = taken->sums;
      if (less.count > bucket.sums.count || less.sum > bucket.sums.sum ||
          less.sum_of_squares > bucket.sums.sum_of_squares) {
        return not_contained;
      }
      bucket.sums.count -= less.count;
      bucket.sums.sum -= less.sum;
      bucket.sums.sum_of_squares -= less.sum_of_squares;
      if (!stats::ValidateBucket(bucket.slot, bucket.sums)) return not_contained;
      ++taken;
    }
    if (bucket.sums.count != 0) left.push_back(bucket);
  }
  if (taken != other.buckets.end()) return not_contained;
  if (left.empty() && left_scalars.contributions != 0) return not_contained;
  buckets = std::move(left);
  scalars = left_scalars;
  return {};
}

void CompactRow::SetHistogram(const stats::CostHistogram& histogram) {
  buckets.clear();
  saturated = histogram.saturated();
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& sums = histogram.bucket(slot);
    if (sums.count != 0) buckets.push_back({static_cast<std::uint8_t>(slot), sums});
  }
}

stats::CostHistogram CompactRow::ToHistogram() const {
  stats::CostHistogram histogram;
  for (const CompactBucket& bucket : buckets) histogram.SetBucket(bucket.slot, bucket.sums);
  return histogram;
}

std::size_t CompactRow::MemoryBytes() const {
  return sizeof(CompactRow) + buckets.capacity() * sizeof(CompactBucket);
}

}  // namespace fieldcost::store
