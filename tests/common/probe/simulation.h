#pragma once

#include <cstddef>
#include <cstdint>

namespace fieldcost::probe {

// How often Judge() and Compare() err, on runs drawn from a known distribution: x = log2 of the
// time is normal. Fixed seeds: the same numbers each time.

struct RunPlan {
  std::size_t runs = 8;  // of a group
  double spread = 0.1;   // standard deviation of x, octaves
  int rounds = 1000;
  std::uint64_t seed = 1;
};

// Share of clean runs that are set aside, in groups of clean ones only.
double ShareOfCleanThatGo(const RunPlan& plan);
// Share of groups in which one run that takes `times` as long is set aside.
double ShareOfDirtyThatGo(const RunPlan& plan, double times);

struct Called {
  double slower = 0;  // shares of rounds
  double faster = 0;
};
// What Compare() calls totals of two groups of which the second one's take `times` as long.
Called ShareOfTotalsCalled(const RunPlan& plan, double times, double least);
// The same of the step that takes `times` as long, of three in each event, on a machine that is so
// busy that runs wait for a CPU for half of the time on average, each differently.
struct BusyCalled {
  double slower = 0;  // that step
  double other = 0;   // any other, slower or faster
};
BusyCalled ShareOfBusyStepsCalled(const RunPlan& plan, double times);
// Share of rounds in which any of `steps` equal ones of any of `labels` is called slower or faster.
double ShareWithAnyStepCalled(const RunPlan& plan, std::size_t steps, std::size_t labels);

}  // namespace fieldcost::probe
