#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "common/stats/contribution.h"

namespace fieldcost::stats {

// Simulated fleets, to measure how often the tests among machines find what is not there, and what
// is. Contributions are drawn as scalars, without their calls: 50 to 400 calls each, whose log2
// costs are normal around the machine's with a deviation of 0.6 octave.

enum class Comings { kAlways, kCanaries, kChurn };
enum class Effects { kNormal, kExponential, kLognormal, kFewSlow };

struct FleetPlan {
  std::string_view name;
  int machines = 0;
  int weeks = 1;
  Comings comings = Comings::kAlways;
  Effects effects = Effects::kNormal;
};

// What machines differ by has mean 0 and the deviation `octaves`, whatever its distribution; what a
// machine's weeks differ by is normal with a third of that.
//   kAlways: every machine contributes every week.
//   kCanaries: three do, all others in the last week only.
//   kChurn: a quarter do; the others are other machines each week.
//   kLognormal: of a normal one with deviation 0.5. kFewSlow: one in twenty is much slower.
class SimulatedFleet {
 public:
  SimulatedFleet(const FleetPlan& plan, double octaves, std::uint64_t seed)
      : plan_(plan), octaves_(octaves), random_(seed) {}

  // The fullest quarter of a new fleet with these costs more, the last of equal ones.
  ContributionScalars FullestWeek(double more = 0);
  // A machine like the fleet's, of which it is none.
  ContributionScalars User(double more = 0) { return Contribution(Effect() + more); }

 private:
  double Effect();
  ContributionScalars Contribution(double effect);

  FleetPlan plan_;
  double octaves_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

// Shares of simulated comparisons.
struct Sizes {
  double at_5_percent = 0;    // false, at p <= 0.05
  double at_0_1_percent = 0;  // false, at p <= 0.001
  double half_more = 0;       // found at p <= 0.01 if all costs are half as much again
  double twice = 0;           // or twice
};

// How often healthy users are flagged (`TestMachine`), ten for each fleet; and how often two fleets
// with equal costs differ (`CompareMachines`). The same for the same arguments.
Sizes SizesOfCheck(const FleetPlan& plan, double octaves, int fleets, std::uint64_t seed);
Sizes SizesOfDiff(const FleetPlan& before, const FleetPlan& after, double octaves, int pairs,
                  std::uint64_t seed);

}  // namespace fieldcost::stats
