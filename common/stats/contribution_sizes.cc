#include "common/stats/contribution_sizes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace fieldcost::stats {
namespace {

Error ImpossibleSizes(std::string_view rule) {
  return Fail(ErrorCode::kCorrupt, "sizes of contributions are impossible: {}", rule);
}

std::span<const SizeBucket> OfKind(std::span<const SizeBucket> buckets, SizeKind kind) {
  const auto middle = std::find_if(buckets.begin(), buckets.end(), [](const SizeBucket& bucket) {
    return bucket.kind != SizeKind::kCalls;
  });
  const auto calls = static_cast<std::size_t>(middle - buckets.begin());
  return kind == SizeKind::kCalls ? buckets.first(calls) : buckets.subspan(calls);
}

std::uint64_t Count(std::span<const SizeBucket> buckets) {
  std::uint64_t contributions = 0;
  for (const SizeBucket& bucket : buckets) contributions += bucket.contributions;
  return contributions;
}

// REQUIRES: not empty.
unsigned MedianSlot(std::span<const SizeBucket> buckets) {
  const std::uint64_t count = Count(buckets);
  const std::uint64_t rank = count - count / 2;  // of the lower median
  std::uint64_t below = 0;
  for (const SizeBucket& bucket : buckets) {
    below += bucket.contributions;
    if (below >= rank) return bucket.slot;
  }
  return buckets.back().slot;
}

// The sum of the contributions' sizes, each limited to the cap.
Uint128 BoundedSum(std::span<const SizeBucket> buckets) {
  if (buckets.empty()) return 0;
  const unsigned last_full = std::min(MedianSlot(buckets) + kSizeCapOctaves, shm::kBucketSlots - 1);
  const std::uint64_t cap = shm::SlotMax(last_full);
  bool saturated = false;
  Uint128 sum = 0;
  for (const SizeBucket& bucket : buckets) {
    sum = SaturatingAdd(
        sum, bucket.slot <= last_full ? bucket.total : Uint128{bucket.contributions} * cap,
        saturated);
  }
  return sum;
}

// Whether contributions of its slot can have this total.
bool IsPossibleBucket(const SizeBucket& bucket) {
  return bucket.contributions != 0 &&
         bucket.total >= Uint128{bucket.contributions} * shm::SlotMin(bucket.slot) &&
         bucket.total <= Uint128{bucket.contributions} * shm::SlotMax(bucket.slot);
}

}  // namespace

void ContributionSizes::Add(std::span<const SizeBucket> other) {
  if (buckets.empty()) {
    buckets.assign(other.begin(), other.end());
    return;
  }
  std::size_t at = 0;
  for (const SizeBucket& bucket : other) {
    while (at < buckets.size() && buckets[at].IsBefore(bucket)) ++at;
    if (at < buckets.size() && !bucket.IsBefore(buckets[at])) {
      buckets[at].contributions += bucket.contributions;
      buckets[at].total += bucket.total;
    } else {
      buckets.insert(buckets.begin() + static_cast<std::ptrdiff_t>(at), bucket);
    }
  }
}

Status ContributionSizes::Subtract(const ContributionSizes& other) {
  const Error not_contained =
      Fail(ErrorCode::kInvalidArgument, "there are no contributions of these sizes");
  std::vector<SizeBucket> left;
  left.reserve(buckets.size());
  auto taken = other.buckets.begin();
  for (SizeBucket bucket : buckets) {
    if (taken != other.buckets.end() && !bucket.IsBefore(*taken) && !taken->IsBefore(bucket)) {
      if (taken->contributions > bucket.contributions || taken->total > bucket.total) {
        return not_contained;
      }
      bucket.contributions -= taken->contributions;
      bucket.total -= taken->total;
      ++taken;
      if (bucket.contributions == 0 && bucket.total == 0) continue;
      if (!IsPossibleBucket(bucket)) return not_contained;
    }
    left.push_back(bucket);
  }
  if (taken != other.buckets.end()) return not_contained;
  buckets = std::move(left);
  return {};
}

std::uint64_t ContributionSizes::Contributions() const {
  return Count(OfKind(buckets, SizeKind::kCalls));
}

BoundedSums ContributionSizes::Bounded() const {
  constexpr Uint128 kMost = std::numeric_limits<std::uint64_t>::max();
  return {.contributions = Contributions(),
          .calls = Low64(std::min(BoundedSum(OfKind(buckets, SizeKind::kCalls)), kMost)),
          .sum = BoundedSum(OfKind(buckets, SizeKind::kSum))};
}

std::array<SizeBucket, 2> SizesOf(std::uint64_t calls, Uint128 sum) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t counted = High64(sum) == 0 ? Low64(sum) : kMost;
  return {SizeBucket{.kind = SizeKind::kCalls,
                     .slot = static_cast<std::uint8_t>(shm::SlotOf(calls)),
                     .contributions = 1,
                     .total = calls},
          SizeBucket{.kind = SizeKind::kSum,
                     .slot = static_cast<std::uint8_t>(shm::SlotOf(counted)),
                     .contributions = 1,
                     .total = counted}};
}

ContributionSizes SizesOf(const CostHistogram& histogram) {
  const Bucket totals = histogram.Totals();
  ContributionSizes sizes;
  if (totals.count != 0) sizes.Add(SizesOf(totals.count, totals.sum));
  return sizes;
}

Status Validate(std::span<const SizeBucket> untrusted_sizes, std::uint64_t contributions,
                const Bucket& row_totals) {
  const SizeBucket* previous = nullptr;
  std::array<Uint128, 2> counts{};
  std::array<Uint128, 2> totals{};
  bool overflows = false;
  for (const SizeBucket& bucket : untrusted_sizes) {
    if (bucket.kind > SizeKind::kSum || bucket.slot >= shm::kBucketSlots) {
      return ImpossibleSizes("no such slot");
    }
    if (previous != nullptr && !previous->IsBefore(bucket)) return ImpossibleSizes("not ascending");
    previous = &bucket;
    if (!IsPossibleBucket(bucket)) return ImpossibleSizes("a total that its slot cannot have");
    const auto kind = static_cast<std::size_t>(bucket.kind);
    counts[kind] += bucket.contributions;
    totals[kind] = SaturatingAdd(totals[kind], bucket.total, overflows);
  }
  if (counts[0] != counts[1]) return ImpossibleSizes("other contributions of calls than of costs");
  if (!untrusted_sizes.empty() && counts[0] != contributions) {
    return ImpossibleSizes("not of the row's contributions");
  }
  if (overflows || totals[0] > row_totals.count || totals[1] > row_totals.sum) {
    return ImpossibleSizes("more than the row has");
  }
  // A contribution has at least one call.
  if (!untrusted_sizes.empty() && untrusted_sizes.front().slot == 0 &&
      untrusted_sizes.front().kind == SizeKind::kCalls) {
    return ImpossibleSizes("a contribution without a call");
  }
  return {};
}

}  // namespace fieldcost::stats
