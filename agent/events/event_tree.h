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

// The metrics of events, in column order: calls, wall, then those of shm::TraceMetric.
inline constexpr std::size_t kEventMetrics = 2 + shm::kTraceMetrics;
std::vector<tree::Metric> EventMetrics();
// Whether that column was measured on all threads of the program. If not, a 0 in it means nothing.
bool IsMeasured(const Arena& arena, std::size_t column);

// Receives the values of a path on one thread slot. A path and slot may occur several times.
using OnValues = std::function<Status(std::uint16_t slot, tree::PathId path,
                                      std::span<const std::uint64_t> values)>;

// Visits a program's trees, with values in the order of EventMetrics(). Adds its paths to the
// dictionary. APIs have their names; functions get theirs from `name`, which is called once per
// address. Costs outside of all traced functions belong to the root.
//
// The inclusive wall time of each node is that of its ticks, rounded down to nanoseconds; self
// times are that minus the children's. While the program runs, self times are rounded down instead,
// so that no value ever decreases. kTooLarge, or an error of the visitor.
Status ForEachEvent(const Arena& arena, const NameCode& name, tree::Dictionary& dictionary,
                    const OnValues& visit);
// Summed over all threads.
Result<tree::RunValues> EventValues(const Arena& arena, const NameCode& name,
                                    tree::Dictionary& dictionary);

// "branches", and the costs until the next branch: "branch-wall", "branch-allocated" and
// "branch-page-faults".
std::vector<tree::Metric> BranchMetrics();

// Visits a program's branches, with values in the order of BranchMetrics(). Each block is a child
// of the block before it, which is a child of [branches]. Otherwise like ForEachEvent().
Status ForEachBranch(const Arena& arena, const NameCode& name_block, tree::Dictionary& dictionary,
                     const OnValues& visit);
// Summed over all threads.
Result<tree::RunValues> BranchValues(const Arena& arena, const NameCode& name_block,
                                     tree::Dictionary& dictionary);

}  // namespace fieldcost::events
