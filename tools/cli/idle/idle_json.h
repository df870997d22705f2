#pragma once

#include <string>
#include <vector>

#include "tools/analysis/idle_view.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::cli {

// The output of `idle show --json`: one JSON object and a newline. Names are stable; ns and ticks
// are exact decimal texts.
//
//   {"mode", "tick_ns", "why",
//    "all": {"idle", "explained", "stat_idle" (null: not known), "by_why": {"lock": ns, ...}},
//    "cpus": [{"cpu", and the members of "all"}],
//    "no_cpu": ns of `all` that are not attributed to a CPU,
//    "to", "from": trees as in TreeJson() (tools/cli/tree/tree_json.h); null if not recorded,
//    "pairs": [{"ns", "ticks", "periods", "chain": [texts],
//               "to", "from", "waker": [names, outermost first],
//               "lengths": [{"min", "max", "count"}] of periods, in ns}], longest first,
//    "remarks"}
std::string IdleJson(const analysis::IdleView& view, const analysis::TreeView* to,
                     const analysis::TreeView* from, const std::vector<std::string>& remarks);

}  // namespace fieldcost::cli
