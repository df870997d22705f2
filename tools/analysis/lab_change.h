#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/inference/machine_comparison.h"
#include "common/stats/figures.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// Changes between two lab tables of one scenario. Pure functions.

// One API in one metric. All versions of its library count together, so that they can be compared.
struct LabChange {
  std::string soname;
  std::string symbol;
  std::string symbol_version;
  stats::Metric metric = stats::Metric::kWallTime;
  stats::Figures before;
  stats::Figures after;
  std::uint64_t runs_before = 0;
  std::uint64_t runs_after = 0;
  // Runs are the observations: the ratio of their geometric means is 2^octaves. Compared within the
  // machine classes that both tables have; if they share none, all together.
  inference::MachineComparison test;
  double ratio = 1;
  double delta = 0;  // Cliff's, of calls
  double q = 1;      // Benjamini and Hochberg's, over all APIs with enough runs
  // By inference::kLabThresholds; the values are runs.
  inference::Verdict change = inference::Verdict::kTooLittleData;
};

// Compares all APIs that both tables have, in this metric: first those that cost more, by greatest
// ratio, then those that cost less, then the others by name.
std::vector<LabChange> CompareLabTables(const wire::LabTable& before, const wire::LabTable& after,
                                        stats::Metric metric);

}  // namespace fieldcost::analysis
