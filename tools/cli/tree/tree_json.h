#pragma once

#include <string>
#include <vector>

#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "common/tree/compare_trees.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::cli {

// The output of `tree ... --json`: one JSON object and a newline. Names are stable; costs are exact
// sums as decimal texts, over "denominator".

// {"metric", "unit", "sampled", "runs", "runs_before", "denominator", "nodes": [{"parent",
// "module", "function", ..., "self", "inclusive", "self_before", "inclusive_before"}], "remarks"};
// "parent" is an index; the first node is the root. With --callees, callees are the children of the
// function that calls them, directly or not; the root has the cost of all these functions.
std::string TreeJson(const analysis::TreeView& view, const std::vector<std::string>& remarks);
// The same for a difference, plus "comparison": {"enough", "total": {"before", "after", "p",
// "change"}, "factor", "factor_p", "alike_p", "tested", "changes": [{"kind", "path": [names],
// "before", "after", "q"}]}; costs are means per run, as measured, in the metric's unit.
std::string TreeDiffJson(const tree::Comparison& comparison, const analysis::TreeView& view,
                         const std::vector<std::string>& remarks);
std::string VerifyJson(const recording::VerifyReport& report);
std::string RecoverJson(const recording::RecoverReport& report);

}  // namespace fieldcost::cli
