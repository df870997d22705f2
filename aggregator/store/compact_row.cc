#include "aggregator/store/compact_row.h"

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
