#pragma once

#include <cstdint>
#include <optional>

#include "common/stats/stat_row.h"
#include "tools/analysis/check_field.h"

namespace fieldcost::analysis {

// How much more an API costs in the field than in the lab, where one program calls it repeatedly
// with warm caches: the price of context. The ratio of geometric means of times, the field's
// machines to the lab's runs.
struct ContextPenalty {
  double ratio = 1;
  // The 95 % confidence interval, by Welch's t (common/inference/machine_comparison.h).
  double low = 1;
  double high = 1;
  std::uint64_t machines = 0;
  Stratum stratum = Stratum::kNone;  // of the field's rows
};

// nullopt with fewer than 2 runs, or too few machines in the field. REQUIRES: both are valid. Pure.
std::optional<ContextPenalty> PenaltyOf(const stats::StatRow& lab, const FieldChoice& field);

}  // namespace fieldcost::analysis
