#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "agent/trace/arena_reader.h"
#include "common/base/result.h"
#include "common/tree/dictionary.h"
#include "common/tree/metric.h"
#include "common/tree/run_values.h"

namespace fieldcost::trace {

// What code at an address is called. `module` is null where nobody knows what was loaded there.
using NameCode = std::function<tree::Frame(const ArenaModule* module, std::uint64_t address)>;

// By build-id and place in the file: for others to find its name later.
tree::Frame UnnamedCode(const ArenaModule* module, std::uint64_t address);

// One run's programs in one tree: all threads together.
struct EventTree {
  std::vector<tree::Metric>
      metrics;                // calls, wall, and of the rest what was measured in all arenas
  tree::RunValues values{0};  // by these, and the dictionary's paths
};

// Adds the arenas' paths to the dictionary. APIs have their names; functions get theirs from
// `name`, which is asked once for each address. The inclusive wall time of each node of an arena is
// that of its ticks, to the nanosecond below; self times are what its children leave of that. What
// was spent outside of all that is traced is the root's. kTooLarge.
Result<EventTree> MakeEventTree(std::span<const Arena> arenas, const NameCode& name,
                                tree::Dictionary& dictionary);

}  // namespace fieldcost::trace
