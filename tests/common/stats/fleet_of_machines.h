#pragma once

#include <cmath>
#include <random>

#include "common/inference/anomaly.h"

namespace fieldcost::stats {

// Synthetic machines that all run the same API: the log2 of a machine's typical cost is normal
// around 12 with the deviation `between`, and that of its calls is normal around it with a
// deviation of 1 octave.
class FleetOfMachines {
 public:
  FleetOfMachines(double between, unsigned seed) : between_(between), random_(seed) {}

  // A machine that makes 50 to 400 calls and is slower than the others by `octaves`.
  CostHistogram Machine(double octaves = 0) {
    CostHistogram histogram;
    const double typical = 12 + octaves + between_ * normal_(random_);
    const int calls = std::uniform_int_distribution<int>(50, 400)(random_);
    for (int i = 0; i < calls; ++i) {
      histogram.Add(static_cast<std::uint64_t>(std::exp2(typical + normal_(random_))));
    }
    return histogram;
  }

  // The sums of one week.
  ApiSums Field(int machines) {
    ApiSums field;
    for (; machines > 0; --machines) Contribute(Machine(), field);
    return field;
  }

  static void Contribute(const CostHistogram& machine, ApiSums& field) {
    field.histogram.Merge(machine);
    field.scalars.Merge(ScalarsOf(machine));
    field.fullest_quarter = {.week = 2900, .scalars = field.scalars};
  }

 private:
  double between_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace fieldcost::stats
