#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/idle/idle_schema.h"
#include "common/tree/tree.h"
#include "tools/analysis/idle_view.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/recorded_runs.h"

namespace fieldcost::cli {

// Recordings of idle CPUs, as the commands below `idle` read them.

// One view of idle time: its name, its metrics in ns and in ticks.
struct IdleSide {
  std::string_view name;
  std::array<std::string_view, 2> metrics;
};
inline constexpr IdleSide kCpusSide{"cpus", {idle::kCpuIdle, ""}};
inline constexpr IdleSide kToSide{"to", {idle::kToIdle, idle::kToIdleTicks}};
inline constexpr IdleSide kFromSide{"from", {idle::kFromIdle, idle::kFromIdleTicks}};
inline constexpr IdleSide kPairsSide{"pairs", {idle::kPairs, idle::kPairTicks}};
// REQUIRES: one of these names.
const IdleSide& FindIdleSide(std::string_view name);

struct LoadedIdle {
  TreeOperand operand;
  std::shared_ptr<const recording::Recording> recording;
  analysis::IdleView view;
  RecordedRuns recorded;  // with its remarks
};

// Loads the file of an operand (ParseTreeOperand()). kInvalidArgument, with its kind and the
// command that reads it, unless it is a recording of idle CPUs; errors of the file, with its name.
Result<LoadedIdle> LoadIdle(const std::string& operand);

// That side's metrics, all runs together as one. kNotFound if they were not recorded.
Result<tree::Tree> SideTree(const LoadedIdle& loaded, const IdleSide& side);

// The error (kInvalidArgument) that what was named has these metrics and is not a recording of idle
// CPUs.
Error NoIdleRecording(const std::string& untrusted_name, const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::cli
