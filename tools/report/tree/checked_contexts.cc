#include "tools/report/tree/checked_contexts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "common/tree/compare_trees.h"
#include "tools/analysis/tree_view.h"
#include "tools/report/api_names.h"
#include "tools/report/tree/checked_tree.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::CheckedApi;
using inference::kContextThresholds;
using tree::MeanTree;
using tree::PathId;

constexpr std::string_view kCallsMetric = "calls";  // of recorded events

// The API that the report flags and that each path ends with, or nullptr; [path id].
std::vector<const CheckedApi*> FlaggedPaths(const MeanTree& tree,
                                            const analysis::CheckReport& report) {
  const FrameNames names(report);
  const tree::FrameTable& frames = tree.dictionary->frames;
  std::vector<const CheckedApi*> of_frame;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    of_frame.push_back(names.Find(frames.frame(tree::FrameId{i})));
  }
  std::vector<const CheckedApi*> of_path(tree.paths().size(), nullptr);
  for (std::uint32_t i = 1; i < of_path.size(); ++i) {
    if (tree.where[i] != 0) of_path[i] = of_frame[tree.paths().frame(PathId{i}).value()];
  }
  return of_path;
}

bool IsInner(const MeanTree& tree, const std::vector<const CheckedApi*>& flagged, PathId path) {
  const CheckedApi* const api = flagged[path.value()];
  for (PathId at = tree.paths().parent(path); at != tree::kRootPath; at = tree.paths().parent(at)) {
    if (flagged[at.value()] == api) return true;
  }
  return false;
}

void CompareAll(const MeanTree& tree, std::size_t metric, std::vector<CheckedContext>& contexts) {
  std::map<const CheckedApi*, std::size_t> numbers;
  std::vector<analysis::ContextCost> costs;
  const auto per_sample = static_cast<double>(tree.metrics[metric].per_sample);
  for (const CheckedContext& context : contexts) {
    inference::Moments cost =
        tree::MomentsOf(tree.values[metric].inclusive[context.path.value()].after, tree.runs_after,
                        tree.denominator);
    // Sampled costs vary at least as those of a constant rate (Poisson).
    cost.variance = std::max(cost.variance, cost.mean * per_sample);
    costs.push_back(
        {.function = numbers.try_emplace(context.api, numbers.size()).first->second,
         .cost = cost,
         .calls = static_cast<double>(context.calls) / static_cast<double>(tree.denominator)});
  }
  const auto compared = analysis::CompareContexts(costs);
  for (std::size_t i = 0; i < contexts.size(); ++i) contexts[i].comparison = compared[i];
}

std::string ContextRatioText(const CheckedContext& context) {
  if (!context.comparison) return "-";
  return fmt::format("{:.2f}{}", context.comparison->ratio,
                     context.comparison->deviates ? " !" : "");
}

// Explains the marks, or why there are none.
std::string ComparisonText(const MeanTree& tree, const std::vector<CheckedContext>& contexts) {
  const bool has_several = std::ranges::any_of(
      contexts, [](const CheckedContext& one) { return one.api_cost != one.cost; });
  if (!has_several) return "";
  const bool is_compared = std::ranges::any_of(
      contexts, [](const CheckedContext& one) { return one.comparison.has_value(); });
  if (is_compared && tree.runs_after >= kContextThresholds.least_values) {
    return fmt::format(
        "RATIO: the cost of a call to that of the API's calls from elsewhere; ! = at least {}, and "
        "more than runs vary\n",
        kContextThresholds.least_ratio);
  }
  if (is_compared) {
    return fmt::format("None is marked, since that takes {} runs: fieldcost trace --runs {}\n",
                       kContextThresholds.least_values, kContextThresholds.least_values);
  }
  return "Calls from different places are not compared: their number was not counted (fieldcost "
         "trace --events functions,API)\n";
}

}  // namespace

std::vector<CheckedContext> ContextsOf(const MeanTree& tree, std::size_t metric,
                                       const analysis::CheckReport& report) {
  FIELDCOST_CHECK(tree.runs_before == 0 && metric < tree.metrics.size());
  const std::optional<std::size_t> calls = tree::FindMetric(tree.metrics, kCallsMetric);
  const std::vector<const CheckedApi*> flagged = FlaggedPaths(tree, report);
  std::vector<CheckedContext> contexts;
  std::map<const CheckedApi*, stats::Uint128> sums;
  for (std::uint32_t i = 1; i < flagged.size(); ++i) {
    const PathId path{i};
    if (flagged[i] == nullptr || IsInner(tree, flagged, path)) continue;
    const stats::Uint128 cost = tree.values[metric].inclusive[i].after.sum;
    contexts.push_back({.api = flagged[i],
                        .path = path,
                        .cost = cost,
                        .calls = calls ? tree.values[*calls].self[i].after.sum : 0});
    sums[flagged[i]] += cost;
  }
  for (CheckedContext& context : contexts) context.api_cost = sums[context.api];
  CompareAll(tree, metric, contexts);
  std::ranges::stable_sort(contexts, [](const auto& a, const auto& b) { return a.cost > b.cost; });
  return contexts;
}

std::vector<std::string> CallersOf(const MeanTree& tree, const CheckedContext& context) {
  std::vector<std::string> names;
  for (PathId at = tree.paths().parent(context.path); at != tree::kRootPath;
       at = tree.paths().parent(at)) {
    names.push_back(analysis::NameOf(tree.dictionary->frame(at)));
  }
  std::ranges::reverse(names);
  return names;
}

std::string ContextsText(const MeanTree& tree, std::size_t metric,
                         const std::vector<CheckedContext>& contexts, const draw::Style& style) {
  if (contexts.empty()) return "";
  const auto cost = [&](stats::Uint128 sum, std::uint64_t denominator) {
    return CostText(static_cast<stats::Int128>(sum), denominator, tree.metrics[metric].unit, style);
  };
  const std::vector<draw::TextColumn> columns = {{"COST", true},
                                                 {"OF API", true, 3},
                                                 {"CALLS", true, 2},
                                                 {"RATIO", false, 1},
                                                 {"API", false, 0, kLeastApiWidth, true},
                                                 {"CALLED FROM", false, 0, kLeastApiWidth, true}};
  std::vector<draw::TextLine> lines;
  for (const CheckedContext& context : contexts) {
    if (lines.size() == kMostContexts) break;
    const std::string callers = fmt::format("{}", fmt::join(CallersOf(tree, context), ";"));
    lines.push_back({cost(context.cost, tree.denominator),
                     draw::ShareText(context.cost, context.api_cost),
                     context.calls == 0 ? "-"
                                        : CostText(static_cast<stats::Int128>(context.calls),
                                                   tree.denominator, tree::Unit::kCount, style),
                     ContextRatioText(context),
                     draw::ShortenName(names::ShownName(context.api->key.api), kMaxApiWidth, style),
                     callers.empty() ? "-" : draw::ShortenName(callers, kMaxApiWidth, style)});
  }
  std::string text = "Where they cost most:\n" + draw::TextTable(columns, lines, style);
  if (contexts.size() > lines.size()) {
    text += fmt::format("({} more; all: --json)\n", contexts.size() - lines.size());
  }
  return text + draw::WrapLines(ComparisonText(tree, contexts), style);
}

}  // namespace fieldcost::report
