#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// Call trees as text and CSV. Deterministic; everything is escaped.

struct TreeTextOptions {
  double least_share = 0.005;  // of the whole; nodes that cost less are omitted and counted
  std::size_t max_depth = 0;   // 0: all
  std::size_t max_rows = 0;    // in a flat table; 0: all
  std::vector<bool> kept;      // [node]: shown however little it costs; or empty
};

// One line per node, below its caller: share of the whole, inclusive and self cost, name. For a
// difference: cost before and after, and the change; "new" or "gone" if one side has none. `marked`
// is empty or has remarks for some nodes ([node]). Costs are per run.
std::string TreeText(const analysis::TreeView& view, const std::vector<std::string>& marked,
                     const TreeTextOptions& options, const draw::Style& style);

// Flat() as a table: self and inclusive cost of each function; FlatByFirst() as a table with each
// function on each thread.
std::string FlatText(const analysis::TreeView& view, const TreeTextOptions& options,
                     const draw::Style& style);

// CalleesOf() as a table: each function's share of the time (or other cost) of the function whose
// callees are shown, its inclusive and self cost.
std::string CalleesText(const analysis::TreeView& view, const TreeTextOptions& options,
                        const draw::Style& style);

// "1.2 s", "3.4 KiB", "1,234", "0.5": the cost of `sum` over `denominator`; "-1.2 s" if negative.
// Uses that many significant digits (draw::DigitsToTell()); whole counts have all digits.
std::string CostText(stats::Int128 sum, std::uint64_t denominator, tree::Unit unit,
                     const draw::Style& style, unsigned digits = 2);

// One record per node, callers first: node, parent, depth, module, function, file, build_id,
// offset, metric, unit, runs_before, runs_after, denominator, self_before, self, inclusive_before,
// inclusive. Costs are exact sums over the denominator.
std::string TreeCsv(const analysis::TreeView& view);

}  // namespace fieldcost::report
