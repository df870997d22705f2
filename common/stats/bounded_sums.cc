#include "common/stats/bounded_sums.h"

#include "common/stats/contribution_sizes.h"

namespace fieldcost::stats {
namespace {

Error ImpossibleBounds(std::string_view rule) {
  return Fail(ErrorCode::kCorrupt, "bounded sums are impossible: {}", rule);
}

}  // namespace

void BoundedSums::Merge(const BoundedSums& other) {
  bool saturated = false;
  contributions = SaturatingAdd(contributions, other.contributions, saturated);
  calls = SaturatingAdd(calls, other.calls, saturated);
  sum = SaturatingAdd(sum, other.sum, saturated);
}

double BoundedSums::Mean() const {
  return calls == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(calls);
}

BoundedSums BoundedSumsOf(const CostHistogram& histogram) { return SizesOf(histogram).Bounded(); }

Status Validate(const BoundedSums& untrusted_sums, const CostHistogram& histogram,
                std::uint64_t contributions) {
  if (untrusted_sums == BoundedSums{}) return {};
  if (untrusted_sums.contributions != contributions || contributions == 0) {
    return ImpossibleBounds("not of the row's contributions");
  }
  if (untrusted_sums.calls < untrusted_sums.contributions) {
    return ImpossibleBounds("a contribution without a call");
  }
  const Bucket totals = histogram.Totals();
  if (untrusted_sums.calls > totals.count || untrusted_sums.sum > totals.sum) {
    return ImpossibleBounds("more than the row has");
  }
  return {};
}

}  // namespace fieldcost::stats
