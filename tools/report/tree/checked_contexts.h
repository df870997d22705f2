#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/tree/mean_tree.h"
#include "tools/analysis/call_contexts.h"
#include "tools/analysis/check_report.h"

namespace fieldcost::report {

// One context of an API that is worse than the field: a path of a tree that ends with its outermost
// call. Sums are over the tree's denominator.
struct CheckedContext {
  const analysis::CheckedApi* api = nullptr;
  tree::PathId path;
  stats::Uint128 cost = 0;      // including what it calls
  stats::Uint128 api_cost = 0;  // in all contexts
  stats::Uint128 calls = 0;     // 0: not counted, as in recordings without events
  std::optional<analysis::ContextComparison> comparison;
};

// The contexts of all APIs that the report flags, the most expensive first; ties in the order of
// paths. The report must outlive the result. REQUIRES: the tree is not a difference; it has the
// metric. Pure.
std::vector<CheckedContext> ContextsOf(const tree::MeanTree& tree, std::size_t metric,
                                       const analysis::CheckReport& report);

// The functions that lead to a context, the outermost first, without the API; not escaped.
std::vector<std::string> CallersOf(const tree::MeanTree& tree, const CheckedContext& context);

// A table of at most kMostContexts contexts, with "!" at those where a call costs more than
// elsewhere; and, if none could be compared, the reason. Empty if there are no contexts.
inline constexpr std::size_t kMostContexts = 20;
std::string ContextsText(const tree::MeanTree& tree, std::size_t metric,
                         const std::vector<CheckedContext>& contexts, const draw::Style& style);

}  // namespace fieldcost::report
