#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/shm/log2_bucket.h"
#include "common/stats/bounded_sums.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

// The greatest contribution that counts in full is this many octaves above the middle one.
inline constexpr unsigned kSizeCapOctaves = 4;

enum class SizeKind : std::uint8_t { kCalls, kSum };

// Contributions of one size: their number of calls or their cost, depending on `kind`.
// Slots are those of common/shm/log2_bucket.h; a sum above 2^64-1 counts as that.
struct SizeBucket {
  SizeKind kind = SizeKind::kCalls;
  std::uint8_t slot = 0;
  std::uint64_t contributions = 0;
  Uint128 total = 0;  // of their sizes, exact
  bool operator==(const SizeBucket&) const = default;
  // Orders by kind, then slot.
  bool IsBefore(const SizeBucket& other) const {
    return kind != other.kind ? kind < other.kind : slot < other.slot;
  }
};
inline constexpr std::size_t kMaxSizeBuckets = std::size_t{2} * shm::kBucketSlots;

// How large the contributions to a row are: two sparse log2 histograms over contributions, of their
// calls and of their sums. Integers only, hence additive, removable and the same bits in any order.
// They show what is usual, and so how much of a contribution may count where no single one shall
// decide (Bounded()). A plain value of a few dozen bytes each bucket; not thread-safe.
struct ContributionSizes {
  std::vector<SizeBucket> buckets;  // ascending, each with contributions
  bool operator==(const ContributionSizes&) const = default;

  // Adds. REQUIRES: ascending, each with contributions. Numbers wrap, they never trap.
  void Add(std::span<const SizeBucket> other);
  void Merge(const ContributionSizes& other) { Add(other.buckets); }
  // Takes away what was added. kInvalidArgument, and no change, unless every number of `other` is
  // at most ours and what is left is possible.
  Status Subtract(const ContributionSizes& other);

  // How many have been added.
  std::uint64_t Contributions() const;

  // The sums with no contribution above the cap, for calls and for costs apart: the cap is the
  // greatest number kSizeCapOctaves slots above that of the lower median. A slot below counts with
  // its exact total, one above with the cap for each of its contributions. Exact integers.
  BoundedSums Bounded() const;
};

// Sizes of one contribution.
std::array<SizeBucket, 2> SizesOf(std::uint64_t calls, Uint128 sum);
// Sizes of one contribution with this histogram; none if it is empty.
ContributionSizes SizesOf(const CostHistogram& histogram);

// kCorrupt unless there are none, or they can be those of all `contributions` to a row with these
// totals: as many of calls as of sums, ascending slots, each total within its slot, no more of
// anything than there is. Sizes of only some contributions are refused, since the cap and the
// bounded sums would then depend on which ones were left out.
Status Validate(std::span<const SizeBucket> untrusted_sizes, std::uint64_t contributions,
                const Bucket& row_totals);

}  // namespace fieldcost::stats
