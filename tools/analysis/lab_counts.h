#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/lab_table.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// Changes between two lab tables in counted metrics: calls, allocated bytes, bytes moved. These are
// exact counts, not samples. Pure functions.

// With fewer counted runs per side, it is unknown whether its counts vary.
inline constexpr std::uint32_t kLeastCountedRuns = 2;

// One API in one metric (wire::LabTotal), all versions of its library together.
struct LabCount {
  std::string soname;
  std::string symbol;
  std::string symbol_version;
  stats::Metric metric = stats::Metric::kCallsPerRun;
  wire::LabTotal before;
  wire::LabTotal after;
  // If all runs of each side count the same, any difference is a change. If counts vary, a
  // difference is a change if the distance between the ranges exceeds the width of the wider one.
  // kTooLittleData: unknown on one side.
  inference::Verdict change = inference::Verdict::kTooLittleData;
  // Whether this is an increase by at least inference::kLabThresholds.least_ratio, or from 0, in
  // counts whose variation is known; the diff then reports a regression.
  bool decides = false;
  // Whether another change explains this one. For calls: a caller's calls changed by at least half
  // of this factor. For bytes: this API's calls changed, or a callee's bytes by at least half.
  bool follows = false;
  double effect_ns = 0;  // of the changed calls per run: their number times the mean cost

  bool VariesBefore() const { return before.least != before.most; }
  bool VariesAfter() const { return after.least != after.most; }
};

struct LabCounts {
  // Changes first: those that decide, then other increases, then decreases; within each group,
  // those that follow from others last, and greater effects first.
  std::vector<LabCount> apis;
  std::uint32_t runs_before = 0;  // counted in each measurement, at least
  std::uint32_t runs_after = 0;
  std::size_t vary_before = 0;  // number of APIs whose calls differ between runs
  std::size_t vary_after = 0;
  // False if the tables hold different numbers of measurements, or one counted no run; `apis` is
  // then empty.
  bool is_compared = false;
};

// An API that is missing from one table was not called there. But if the tables selected different
// APIs, only those in both are compared.
LabCounts CompareLabCounts(const wire::LabTable& before, const wire::LabTable& after);

// Whether the metric is a counted one.
bool IsCounted(stats::Metric metric);

}  // namespace fieldcost::analysis
