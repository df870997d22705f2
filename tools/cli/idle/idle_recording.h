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

// Loads recordings of idle CPUs for the commands below `idle`.

// A view of idle time: its name, and its metrics in ns and in ticks.
struct IdleSide {
  std::string_view name;
  std::array<std::string_view, 2> metrics;
};
inline constexpr IdleSide kCpusSide{"cpus", {idle::kCpuIdle, ""}};
inline constexpr IdleSide kToSide{"to", {idle::kToIdle, idle::kToIdleTicks}};
inline constexpr IdleSide kFromSide{"from", {idle::kFromIdle, idle::kFromIdleTicks}};
inline constexpr IdleSide kPairsSide{"pairs", {idle::kPairs, idle::kPairTicks}};
// REQUIRES: `name` is the name of a view.
const IdleSide& FindIdleSide(std::string_view name);

struct LoadedIdle {
  TreeOperand operand;
  std::shared_ptr<const recording::Recording> recording;
  analysis::IdleView view;
  RecordedRuns recorded;  // includes its remarks
};

// Loads an operand's file (ParseTreeOperand()). kInvalidArgument if it is not a recording of idle
// CPUs, stating what it is and which command reads it. Errors include the file's name.
Result<LoadedIdle> LoadIdle(const std::string& operand);

// The view's metrics, summed over all runs. kNotFound if they were not recorded.
Result<tree::Tree> SideTree(const LoadedIdle& loaded, const IdleSide& side);

// The error (kInvalidArgument) for an operand with these metrics that is not a recording of idle
// CPUs.
Error NoIdleRecording(const std::string& untrusted_name, const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::cli
