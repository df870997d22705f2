#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/figures.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// Changes between two times on one machine, from its own rows. Pure functions.

// One API in one metric. All versions of its library count together.
struct LocalChange {
  std::string soname;
  std::string symbol;
  stats::Metric metric = stats::Metric::kWallTime;
  stats::Figures before;
  stats::Figures after;
  std::uint64_t timed_before = 0;
  std::uint64_t timed_after = 0;
  double ratio = 0;  // of the means, after to before; 0 = one is 0 or unknown
  double delta = 0;  // Cliff's
  // By the timed calls of both and the effects of inference::kFieldThresholds. There is no
  // probability, because the calls of one machine depend on each other and cannot be tested.
  inference::Verdict change = inference::Verdict::kTooLittleData;
};

// Compares all APIs that both sides have, in this metric: first those that cost more, by greatest
// ratio, then those that cost less, then the others by name.
std::vector<LocalChange> CompareLocal(std::span<const stats::StatRow> before,
                                      std::span<const stats::StatRow> after, stats::Metric metric);

}  // namespace fieldcost::analysis
