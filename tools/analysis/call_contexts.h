#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/inference/verdict.h"
#include "common/inference/welch.h"

namespace fieldcost::analysis {

// A function in one of the contexts that call it: its inclusive cost and its calls per run.
struct ContextCost {
  std::size_t function = 0;  // the same number for all contexts of a function
  inference::Moments cost;   // inclusive, over the runs
  double calls = 0;          // 0: not counted
};

// The cost of a call in one context, compared with the same function's calls in all other contexts.
struct ContextComparison {
  double ratio = 1;
  std::optional<double> q;  // of Welch's test over runs; nullopt with too few runs
  bool deviates = false;    // by inference::kContextThresholds
};

// Compares each context whose calls were counted, and whose function has other such contexts;
// nullopt for the rest. The costs of other contexts are assumed to vary together, which
// overestimates how much their sum varies. q is adjusted over all comparisons. Pure.
std::vector<std::optional<ContextComparison>> CompareContexts(
    std::span<const ContextCost> contexts);

}  // namespace fieldcost::analysis
