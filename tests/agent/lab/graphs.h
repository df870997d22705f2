#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "agent/lab/lab_plan.h"

namespace fieldcost::lab {

// Graphs for tests and benchmarks, deterministic for each seed.

// Any two APIs are a pair with probability `density`. If `acyclic`, the lower one is the outer one.
inline PairGraph RandomGraph(std::uint32_t count, double density, bool acyclic,
                             std::mt19937_64& random) {
  PairGraph graph(count);
  const auto threshold = static_cast<std::uint64_t>(density * 0x1p32);
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) {
      if (random() >> 32 >= threshold) continue;
      const bool reversed = !acyclic && random() % 2 == 0;
      graph.AddPair(reversed ? b : a, reversed ? a : b);
    }
  }
  return graph;
}

struct NestingPlan {
  std::uint32_t apis = 200;
  std::uint32_t depth = 10;
  std::uint32_t stacks = 1000;
  std::uint32_t most_callees = 4;  // per API; 0: any API may call any deeper one
  // One in this many stacks begins with its inner part: a callback. 0: none, so that the order of
  // APIs on stacks has no cycle.
  std::uint32_t callback_every = 0;
};

// The graph of a program's stacks. Each API has one of `depth` levels and calls only deeper ones:
// no stack has two APIs of the same level, so the levels are groups. One stack has depth `depth`,
// so at least `depth` groups are needed. Every stack is a walk along calls from an API of the upper
// half.
inline PairGraph NestedCalls(const NestingPlan& plan, std::mt19937_64& random) {
  PairGraph graph(plan.apis);
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  std::vector<std::vector<std::uint32_t>> levels(plan.depth);
  for (std::uint32_t api = 0; api < plan.apis; ++api) {
    levels[api < plan.depth ? api : below(plan.depth)].push_back(api);
  }
  // Returns an API of a deeper level: usually of the next levels, and usually the first ones there.
  const auto deeper = [&](std::uint32_t level) {
    const std::uint32_t down = std::min(below(plan.depth), below(plan.depth));
    const auto& next = levels[std::min(level + 1 + down, plan.depth - 1)];
    return next[std::min(below(next.size()), below(next.size()))];
  };
  std::vector<std::uint32_t> level_of(plan.apis);
  std::vector<std::vector<std::uint32_t>> callees(plan.apis);
  for (std::uint32_t level = 0; level < plan.depth; ++level) {
    for (const std::uint32_t api : levels[level]) {
      level_of[api] = level;
      for (std::uint32_t n = plan.most_callees == 0 ? 0 : 1 + below(plan.most_callees); n > 0;
           --n) {
        if (level + 1 < plan.depth) callees[api].push_back(deeper(level));
      }
    }
  }
  for (std::uint32_t i = 0; i < plan.stacks; ++i) {
    std::vector<std::uint32_t> stack;
    if (i == 0) {
      for (const auto& level : levels) stack.push_back(level[0]);
    } else {
      stack.push_back(levels[below((plan.depth + 1) / 2)][0]);
      const auto& first = levels[level_of[stack[0]]];
      stack[0] = first[below(first.size())];
      while (level_of[stack.back()] + 1 < plan.depth && below(16) != 0) {
        const auto& called = callees[stack.back()];
        stack.push_back(called.empty() ? deeper(level_of[stack.back()])
                                       : called[below(called.size())]);
      }
    }
    if (plan.callback_every != 0 && i % plan.callback_every == 1) {
      std::rotate(stack.begin(), stack.begin() + below(stack.size()), stack.end());
    }
    for (std::size_t outer = 0; outer < stack.size(); ++outer) {
      for (std::size_t inner = outer + 1; inner < stack.size(); ++inner) {
        graph.AddPair(stack[outer], stack[inner]);
      }
    }
  }
  return graph;
}

}  // namespace fieldcost::lab
