// Groups the largest number of APIs that the lab accepts: prints the CPU ms of the slowest of five
// graphs, each hard in a different way.   bench_lab_plan

#include <time.h>

#include <algorithm>
#include <cstdio>

#include "tests/agent/lab/graphs.h"

namespace {

using namespace fieldcost::lab;

double CpuMs() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double Group(const char* name, const PairGraph& graph) {
  const double begin = CpuMs();
  const Grouping grouping = GroupApis(graph);
  const double took = CpuMs() - begin;
  std::printf("%s: %zu groups, at least %u, %.1f ms\n", name, grouping.groups.size(),
              grouping.lower_bound, took);
  return took;
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  constexpr std::uint32_t kMost = PairGraph::kMostApis;
  const NestingPlan nesting{.apis = kMost, .depth = 30, .stacks = 20'000, .callback_every = 8};
  double slowest = Group("nested calls", NestedCalls(nesting, random));
  for (const double density : {0.02, 0.5, 0.98, 1.0}) {
    const PairGraph graph = RandomGraph(kMost, density, false, random);
    slowest = std::max(slowest, Group("random pairs", graph));
  }
  std::printf("%.1f\n", slowest);
  return 0;
}
