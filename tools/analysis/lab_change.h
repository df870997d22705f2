#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/stats/figures.h"
#include "common/stats/machine_comparison.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// What has changed between two lab tables of one scenario. Pure functions.

// A change of less is none, however sure it is.
inline constexpr double kLeastLabRatio = 1.05;
// How often a change may be found that is none, among all that are found.
inline constexpr double kMostFalseLabChanges = 0.05;
// Fewer runs on a side do not tell what runs differ by.
inline constexpr std::uint64_t kLeastLabRuns = 3;

// One API in one metric; all versions of its library together, so that they can be compared.
struct LabChange {
  std::string soname;
  std::string symbol;
  std::string symbol_version;
  stats::Metric metric = stats::Metric::kWallTime;
  stats::Figures before;
  stats::Figures after;
  std::uint64_t runs_before = 0;
  std::uint64_t runs_after = 0;
  // Runs are the observations: the ratio of their geometric means is 2^octaves. Within the classes
  // of machines that both tables have; if they share none, all together.
  stats::MachineComparison test;
  double ratio = 1;
  double delta = 0;  // Cliff's, of calls
  double q = 1;      // Benjamini and Hochberg's, over all APIs with enough runs
  // kMore and kLess: q at most kMostFalseLabChanges, ratio kLeastLabRatio or more (or 1 / that or
  // less), and delta of the same sign.
  Change change = Change::kTooLittleData;
};

// Compares all APIs that both have, in this metric: those that cost more first, by greatest ratio,
// then those that cost less, then the others by name.
std::vector<LabChange> CompareLabTables(const wire::LabTable& before, const wire::LabTable& after,
                                        stats::Metric metric);

}  // namespace fieldcost::analysis
