#include "tests/faults/network/poison.h"

#include <algorithm>
#include <limits>

#include "common/stats/contribution_sizes.h"
#include "tests/common/stats/slot_of_quantile.h"

namespace fieldcost::faults {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Published weights are rounded to 1/65536 of their row, in each of 65 slots.
constexpr double kRounding = 65.0 / 65'536;

double CapOver(std::uint64_t median) {
  const unsigned slot = shm::SlotOf(median) + stats::kSizeCapOctaves;
  return static_cast<double>(shm::SlotMax(std::min(slot, shm::kBucketSlots - 1)));
}

double SumUpTo(const std::vector<std::uint64_t>& sizes, double cap) {
  double sum = 0;
  for (const std::uint64_t size : sizes) sum += std::min(static_cast<double>(size), cap);
  return sum;
}

}  // namespace

void HonestRow::Add(const stats::CostHistogram& contribution) {
  const stats::Bucket totals = contribution.Totals();
  weights_.Merge(stats::WeightsOf(contribution));
  calls_.push_back(totals.count);
  sums_.push_back(stats::Low64(totals.sum));
}

double HonestRow::sum() const { return SumUpTo(sums_, kUnbounded); }

Range HonestRow::Quantile(double p, std::uint64_t hostile) const {
  const double share =
      static_cast<double>(hostile) / static_cast<double>(contributions() + hostile);
  const double low = (p - share) / (1 - share) - kRounding;
  const double high = p / (1 - share) + kRounding;
  return {.low = low <= 0
                     ? 0
                     : static_cast<double>(shm::SlotMin(testing::SlotOfQuantile(weights_, low))),
          .high = high >= 1
                      ? kUnbounded
                      : static_cast<double>(shm::SlotMax(testing::SlotOfQuantile(weights_, high)))};
}

Range HonestRow::Bounded(std::vector<std::uint64_t> sizes, std::uint64_t hostile) {
  std::sort(sizes.begin(), sizes.end());
  const std::uint64_t all = sizes.size() + hostile;
  const std::uint64_t rank = all - all / 2;  // of the lower median, counted from 1
  const double low_cap = CapOver(rank > hostile ? sizes[rank - hostile - 1] : 0);
  const double low = SumUpTo(sizes, low_cap);
  if (rank > sizes.size()) return {.low = low, .high = kUnbounded};
  const double high_cap = CapOver(sizes[rank - 1]);
  return {.low = low, .high = SumUpTo(sizes, high_cap) + static_cast<double>(hostile) * high_cap};
}

}  // namespace fieldcost::faults
