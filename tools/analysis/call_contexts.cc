#include "tools/analysis/call_contexts.h"

#include <cmath>
#include <map>

#include "common/inference/benjamini_hochberg.h"

namespace fieldcost::analysis {
namespace {

using inference::kContextThresholds;
using inference::Moments;

// Of all contexts of a function whose calls were counted.
struct FunctionSum {
  std::size_t contexts = 0;
  double cost = 0;
  double deviation = 0;  // the sum of the contexts' standard deviations
  double calls = 0;
};

Moments PerCall(double runs, double cost, double deviation, double calls) {
  return {.count = runs, .mean = cost / calls, .variance = deviation * deviation / (calls * calls)};
}

}  // namespace

std::vector<std::optional<ContextComparison>> CompareContexts(
    std::span<const ContextCost> contexts) {
  std::map<std::size_t, FunctionSum> sums;
  for (const ContextCost& context : contexts) {
    if (context.calls <= 0) continue;
    FunctionSum& sum = sums[context.function];
    ++sum.contexts;
    sum.cost += context.cost.mean;
    sum.deviation += std::sqrt(context.cost.variance);
    sum.calls += context.calls;
  }
  std::vector<std::optional<ContextComparison>> comparisons(contexts.size());
  std::vector<std::size_t> tested;
  std::vector<double> p;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const ContextCost& context = contexts[i];
    const FunctionSum& all = sums[context.function];
    if (context.calls <= 0 || all.contexts < 2) continue;
    const double deviation = std::sqrt(context.cost.variance);
    const Moments here = PerCall(context.cost.count, context.cost.mean, deviation, context.calls);
    const Moments elsewhere =
        PerCall(context.cost.count, all.cost - context.cost.mean,
                std::fmax(0, all.deviation - deviation), all.calls - context.calls);
    if (elsewhere.mean <= 0) continue;
    comparisons[i] = {.ratio = here.mean / elsewhere.mean};
    if (context.cost.count < static_cast<double>(kContextThresholds.least_values)) continue;
    tested.push_back(i);
    p.push_back(inference::WelchP(here, elsewhere));
  }
  const std::vector<double> q = inference::AdjustForFalseDiscoveries(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    ContextComparison& comparison = *comparisons[tested[i]];
    comparison.q = q[i];
    comparison.deviates = q[i] <= kContextThresholds.false_share &&
                          comparison.ratio >= kContextThresholds.least_ratio;
  }
  return comparisons;
}

}  // namespace fieldcost::analysis
