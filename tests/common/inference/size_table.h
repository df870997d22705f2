#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "common/stats/contribution.h"

namespace fieldcost::inference {

// Simulated fleets, to measure false positives and power of the tests between machines.
// Contributions are drawn as scalars, without individual calls: 50 to 400 calls each, whose log2
// costs are normal around the machine's with a deviation of 0.6 octaves.

enum class Comings { kAlways, kCanaries, kChurn };
enum class Effects { kNormal, kExponential, kLognormal, kFewSlow };

struct FleetPlan {
  std::string_view name;
  int machines = 0;
  int weeks = 1;
  Comings comings = Comings::kAlways;
  Effects effects = Effects::kNormal;
};

// Differences between machines have mean 0 and the deviation `octaves` for every distribution;
// differences between a machine's weeks are normal with a third of that deviation.
//   kAlways: every machine contributes every week.
//   kCanaries: three machines contribute every week, all others in the last week only.
//   kChurn: a quarter contributes every week; the others are replaced each week.
//   kLognormal: from a normal with deviation 0.5. kFewSlow: one machine in twenty is much slower.
class SimulatedFleet {
 public:
  SimulatedFleet(const FleetPlan& plan, double octaves, std::uint64_t seed)
      : plan_(plan), octaves_(octaves), random_(seed) {}

  // The fullest quarter of a new fleet whose costs are `more` octaves higher; the last of equal
  // ones.
  stats::ContributionScalars FullestQuarter(double more = 0);
  // A machine like those of the fleet, but not one of them.
  stats::ContributionScalars User(double more = 0) { return Contribution(Effect() + more); }

 private:
  double Effect();
  stats::ContributionScalars Contribution(double effect);

  FleetPlan plan_;
  double octaves_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

// Shares of simulated comparisons.
struct Sizes {
  double at_5_percent = 0;    // false positives at p <= 0.05
  double at_0_1_percent = 0;  // false positives at p <= 0.001
  double half_more = 0;       // found at p <= 0.01 if all costs are 1.5 times as high
  double twice = 0;           // or twice as high
};

// How often healthy users are flagged (`TestMachine`), ten per fleet, and how often two fleets with
// equal costs differ (`CompareMachines`). Deterministic for the same arguments.
Sizes SizesOfCheck(const FleetPlan& plan, double octaves, int fleets, std::uint64_t seed);
Sizes SizesOfDiff(const FleetPlan& before, const FleetPlan& after, double octaves, int pairs,
                  std::uint64_t seed);

}  // namespace fieldcost::inference
