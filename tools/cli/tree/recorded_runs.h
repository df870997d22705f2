#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/recording.h"
#include "common/tree/run_values.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::cli {

// The runs of a recording with their values.
struct RecordedRuns {
  std::shared_ptr<const tree::Dictionary> dictionary;
  std::vector<tree::Metric> metrics;
  std::vector<tree::RunValues> runs;
  std::vector<std::string> remarks;  // one line each, for users; not escaped
  std::string command = {};          // of the first run; empty if unknown
};

// Loads the part of each run that lies in the interval, which counts from the run's start; nullopt:
// the whole run. A recording without runs counts as one run. Each part is divided into `divided_by`
// intervals, which count as runs. If there are both events and samples, they are merged run by run
// (common/tree/merge_trees.h). kInvalidArgument if an interval is requested but there are no times;
// errors of recording::Recording and of the merge.
Result<RecordedRuns> RunsOf(const recording::Recording& recording,
                            const std::optional<recording::Interval>& interval,
                            std::uint64_t divided_by = 1);

// The parts of the recording's time that these runs cover.
std::vector<recording::Interval> PartsOf(const recording::Recording& recording,
                                         const std::optional<recording::Interval>& interval,
                                         std::uint64_t divided_by = 1);

// The remark that the rest of a recording could not be read.
std::string RemarkOfStop(std::uint64_t offset, std::string_view reason);

// Keeps only the metrics with these names.
void KeepMetrics(std::span<const std::string_view> names, RecordedRuns& recorded);

// False if the samples have threads but no times, so that no interval can be selected.
bool HasTimes(const recording::Recording& recording);

// Whether the recording's events and samples are merged.
bool AreMerged(const recording::Recording& recording);

}  // namespace fieldcost::cli
