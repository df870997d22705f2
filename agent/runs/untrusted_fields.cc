#include "agent/runs/untrusted_fields.h"

#include "common/stats/uint128.h"

namespace fieldcost::runs {

std::optional<stats::CostHistogram> HistogramOf(const shm::Cell& untrusted_cell) {
  if (untrusted_cell.staged_slot > shm::kBucketSlots) return std::nullopt;
  stats::CostHistogram histogram;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const bool is_staged = untrusted_cell.staged_slot == slot + 1;
    const shm::RunBucket& from = is_staged ? untrusted_cell.staged : untrusted_cell.buckets[slot];
    histogram.SetBucket(slot,
                        {.count = from.count,
                         .sum = from.sum,
                         .sum_of_squares = stats::MakeUint128(from.sumsq_high, from.sumsq_low)});
  }
  histogram.SetUntimed(untrusted_cell.staged_slot == 0 ? untrusted_cell.untimed
                                                       : untrusted_cell.staged_untimed);
  if (!stats::Validate(histogram)) return std::nullopt;
  return histogram;
}

}  // namespace fieldcost::runs
