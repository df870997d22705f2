#pragma once

#include <cstddef>
#include <cstdint>

namespace fieldcost::probe {

// Measures how often Judge() and Compare() err on runs from a known distribution: x = log2 of the
// time is normal. Seeds are fixed, so the results are reproducible.

struct RunPlan {
  std::size_t runs = 8;  // per group
  double spread = 0.1;   // standard deviation of x, octaves
  int rounds = 1000;
  std::uint64_t seed = 1;
};

// The share of clean runs that are set aside in groups without dirty ones.
double ShareOfCleanThatGo(const RunPlan& plan);
// The share of groups in which a single run that takes `times` as long is set aside.
double ShareOfDirtyThatGo(const RunPlan& plan, double times);

struct Called {
  double slower = 0;  // shares of rounds
  double faster = 0;
};
// How Compare() classifies the totals of two groups if the second one takes `times` as long.
Called ShareOfTotalsCalled(const RunPlan& plan, double times, double least);
// The same if one of three steps in each event takes `times` as long, on a machine so busy that
// runs wait for a CPU half of the time on average, each for a different share.
struct BusyCalled {
  double slower = 0;  // the changed step
  double other = 0;   // any other step, slower or faster
};
BusyCalled ShareOfBusyStepsCalled(const RunPlan& plan, double times);
// The share of rounds in which any of `steps` equal steps of any of `labels` is reported as
// changed.
double ShareWithAnyStepCalled(const RunPlan& plan, std::size_t steps, std::size_t labels);

}  // namespace fieldcost::probe
