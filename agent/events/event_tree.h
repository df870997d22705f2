#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "agent/events/arena_reader.h"
#include "common/base/result.h"
#include "common/tree/run_values.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::events {

// Returns the name of the code at an address. `module` is null if the module there is unknown.
using NameCode = std::function<Result<tree::Frame>(const ArenaModule* module, std::uint64_t)>;

// Names code by build-id and file offset, so that its name can be resolved later.
tree::Frame UnnamedCode(const ArenaModule* module, std::uint64_t address);

// The metrics of events, in column order: calls, wall, then by shm::TraceMetric.
inline constexpr std::size_t kEventMetrics = 2 + shm::kTraceMetrics;
std::vector<tree::Metric> EventMetrics();
// Returns whether that column was measured on all threads of the program; otherwise a 0 there has
// no meaning.
bool IsMeasured(const Arena& arena, std::size_t column);

// Receives the values of a path on one thread slot; a path and a slot may occur several times.
using OnValues = std::function<Status(std::uint16_t slot, tree::PathId path,
                                      std::span<const std::uint64_t> values)>;

// Visits a program's trees, by EventMetrics(). Adds its paths to the dictionary. APIs
// have their names; functions get theirs from `name`, which is called once for each address. Costs
// outside of all traced functions belong to the root.
//
// The inclusive wall time of each node is that of its ticks, rounded down to nanoseconds; self
// times are that minus the children's. While the program runs, self times are rounded down, so that
// no value ever decreases. kTooLarge, errors of the visitor.
Status ForEachEvent(const Arena& arena, const NameCode& name, tree::Dictionary& dictionary,
                    const OnValues& visit);
// All threads together.
Result<tree::RunValues> EventValues(const Arena& arena, const NameCode& name,
                                    tree::Dictionary& dictionary);

// "branches", and what was spent until the next one: "branch-wall", "branch-allocated" and
// "branch-page-faults".
std::vector<tree::Metric> BranchMetrics();

// A program's branches, by BranchMetrics(): each block below the one before it, and that below
// [branches]. Otherwise as ForEachEvent().
Status ForEachBranch(const Arena& arena, const NameCode& name_block, tree::Dictionary& dictionary,
                     const OnValues& visit);
// All threads together.
Result<tree::RunValues> BranchValues(const Arena& arena, const NameCode& name_block,
                                     tree::Dictionary& dictionary);

}  // namespace fieldcost::events
