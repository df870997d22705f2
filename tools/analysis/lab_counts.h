#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/lab_table.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// What has changed between two lab tables in what runs are counted by: calls, allocated bytes,
// bytes moved. These are facts, not samples. Pure functions.

// Fewer counted runs on a side do not tell whether its counts vary.
inline constexpr std::uint32_t kLeastCountedRuns = 2;

// One API in one metric (wire::LabTotal), all versions of its library together.
struct LabCount {
  std::string soname;
  std::string symbol;
  std::string symbol_version;
  stats::Metric metric = stats::Metric::kCallsPerRun;
  wire::LabTotal before;
  wire::LabTotal after;
  // Where each run counts the same on both sides, any difference is a change. Where counts vary,
  // it is one if the ranges are further apart than the wider of them is wide. kTooLittleData: not
  // known on a side.
  Change change = Change::kTooLittleData;
  // Whether it is an increase by kLeastLabRatio or more, or from 0, of counts whose variation is
  // known: then the diff has found a regression.
  bool decides = false;
  // Another change explains it. Of calls: those of a caller have changed by half of this factor or
  // more. Of bytes: this API's calls have changed, or the bytes of a callee by half or more.
  bool follows = false;
  double effect_ns = 0;  // of more or fewer calls per run: their number by the mean of one

  bool VariesBefore() const { return before.least != before.most; }
  bool VariesAfter() const { return after.least != after.most; }
};

struct LabCounts {
  // Changes first: those that decide, then other increases, then decreases; within each, those that
  // follow from others last, and greater effects first.
  std::vector<LabCount> apis;
  std::uint32_t runs_before = 0;  // counted in each measurement, at least
  std::uint32_t runs_after = 0;
  std::size_t vary_before = 0;  // how many APIs' calls differ between runs
  std::size_t vary_after = 0;
  // False: the tables hold different numbers of measurements, or one counted no run. `apis` is
  // empty then.
  bool is_compared = false;
};

// An API that only one table has was not called in the other; but where different APIs were
// selected, only those in both are compared.
LabCounts CompareLabCounts(const wire::LabTable& before, const wire::LabTable& after);

// Whether the metric is one that runs are counted by.
bool IsCounted(stats::Metric metric);

}  // namespace fieldcost::analysis
