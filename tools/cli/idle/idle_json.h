#pragma once

#include <string>
#include <vector>

#include "tools/analysis/idle_view.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::cli {

// What `idle show --json` prints: one JSON object and a newline. Names are stable; ns and ticks are
// exact decimal texts.
//
//   {"mode", "tick_ns", "why",
//    "all": {"idle", "explained", "stat_idle" (null: not known), "by_why": {"lock": ns, ...}},
//    "cpus": [{"cpu", and as "all"}],
//    "no_cpu": ns of `all` that no CPU was named of,
//    "to", "from": trees as of TreeJson() (tools/cli/tree/tree_json.h); null if they were not
//    recorded, "pairs": [{"ns", "ticks", "periods", "chain": [texts], "to", "from", "waker":
//    [names, the
//      outermost first], "lengths": [{"min", "max", "count"}] of periods, in ns}], the greatest
//      first,
//    "remarks"}
std::string IdleJson(const analysis::IdleView& view, const analysis::TreeView* to,
                     const analysis::TreeView* from, const std::vector<std::string>& remarks);

}  // namespace fieldcost::cli
