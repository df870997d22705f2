#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/stats/api_sums.h"
#include "common/stats/machine_variation.h"
#include "common/stats/permutation.h"

namespace fieldcost::stats {

// Is my profile worse than the field? Pure functions, thread-safe: compare each API (in parallel,
// if you like), then decide about all of them together.

// What a comparison must reach.
inline constexpr std::uint64_t kLeastCalls = 100;    // of mine, to be eligible
inline constexpr std::uint64_t kLeastMachines = 30;  // different ones, not mine, to be eligible
inline constexpr double kFalseDiscoveries = 0.05;    // share of the flagged, at most
inline constexpr double kLeastDelta = 0.147;         // below it an effect is "negligible"
inline constexpr double kLeastRatio = 1.25;

enum class Verdict {
  kTooLittleData,  // fewer calls or machines than above
  kNormal,         // not shown to be worse
  kWorse,          // worse than the field
};
// "too little data", "normal", "worse than the field"
std::string_view Name(Verdict verdict);

struct Comparison {
  std::uint64_t calls = 0;          // mine, timed
  std::uint64_t field_calls = 0;    // timed, without mine
  std::uint64_t contributions = 0;  // without mine, of all weeks
  std::uint64_t machines = 0;       // without mine, of the fullest quarter: they are tested against
  // A few machines made most of the field's calls (not AllCallsAgree() of figures.h): calls are not
  // tested, and the two effects are against the typical machine.
  bool few_machines = false;
  // Informs only: it looks at buckets only, so it is blind within a power of two, and takes the
  // calls of one machine for independent.
  CallTest call_test;
  MachineTest machine_test;
  double cliffs_delta = 0;  // P(mine costs more) - P(mine costs less); see effect_size.h
  // Ratio of the calls' geometric mean costs, mine to the field's of all weeks; of machines' if
  // few_machines.
  double ratio = 1;
  bool own_removed = false;
  // Set by Decide():
  double q = 1;  // of machine_test.p
  Verdict verdict = Verdict::kTooLittleData;

  bool eligible() const { return calls >= kLeastCalls && machines >= kLeastMachines; }
};

// Compares my calls with the field's. `own`, if known, is what of the field's sums is mine; it is
// taken out first. If it cannot have been part of them (a stale field, say), nothing is taken out
// and own_removed stays false: the comparison is then a little too mild. `salt` is that of
// TestCalls(). REQUIRES: all are valid.
Comparison Compare(const CostHistogram& mine, const ApiSums& field, const ApiSums* own = nullptr,
                   std::uint64_t salt = 0);

// Takes `own` out of `field`, and of its fullest quarter own.fullest_week, which must be of the
// same week or none; false, and no change, if it cannot have been part of it. Weights that cannot
// have been are forgotten. Bounded sums stay: what is mine of them has a bound like all else.
bool TakeOut(const ApiSums& own, ApiSums& field);

// Sets q and verdict of each, by Benjamini and Hochberg's procedure over the eligible. kWorse:
// q <= kFalseDiscoveries, and effects of kLeastDelta and kLeastRatio at least.
void Decide(std::span<Comparison> report);

}  // namespace fieldcost::stats
