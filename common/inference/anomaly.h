#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/inference/machine_variation.h"
#include "common/inference/permutation.h"
#include "common/stats/api_sums.h"

namespace fieldcost::inference {

// Tests whether one machine's profile ("mine") is worse than the field. Call Compare() for each
// API, in parallel if you like, then Decide() for all of them together. Pure functions,
// thread-safe.

// The thresholds of a comparison.
inline constexpr std::uint64_t kLeastCalls = 100;    // of mine, to be eligible
inline constexpr std::uint64_t kLeastMachines = 30;  // other than mine, to be eligible
inline constexpr double kFalseDiscoveries = 0.05;    // maximum share among the flagged
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
  std::uint64_t machines = 0;       // without mine, in the fullest quarter; the test uses these
  // True if a few machines made most of the field's calls (AllCallsAgree() of
  // common/stats/figures.h is false). Calls are then not tested, and both effects are relative to
  // the typical machine.
  bool few_machines = false;
  // For information only: it uses only buckets, so it cannot see differences within a power of two,
  // and it treats the calls of one machine as independent.
  CallTest call_test;
  MachineTest machine_test;
  double cliffs_delta = 0;  // P(mine costs more) - P(mine costs less); see effect_size.h
  // My calls' geometric mean cost divided by that of the field's calls in all weeks, or by that of
  // its machines if few_machines.
  double ratio = 1;
  bool own_removed = false;
  // Set by Decide():
  double q = 1;  // of machine_test.p
  Verdict verdict = Verdict::kTooLittleData;

  bool eligible() const { return calls >= kLeastCalls && machines >= kLeastMachines; }
};

// Compares my calls with the field's. `own`, if known, is my part of the field's sums and is
// subtracted first. If it cannot be part of them (for example, because the field is stale), nothing
// is subtracted and own_removed stays false: the comparison is then slightly too lenient. `salt` is
// passed to TestCalls(). REQUIRES: all are valid.
Comparison Compare(const stats::CostHistogram& mine, const stats::ApiSums& field,
                   const stats::ApiSums* own = nullptr, std::uint64_t salt = 0);

// Subtracts `own` from `field`, and own.fullest_week from the field's fullest quarter, which must
// be the same quarter or none. Returns false, without a change, if `own` cannot be part of `field`.
// Drops weights that cannot be part of it. Bounded sums stay, since my part of them is bounded like
// all others.
bool TakeOut(const stats::ApiSums& own, stats::ApiSums& field);

// Sets q and verdict of each, by Benjamini and Hochberg's procedure over the eligible ones. kWorse:
// q <= kFalseDiscoveries, and effects of at least kLeastDelta and kLeastRatio.
void Decide(std::span<Comparison> report);

}  // namespace fieldcost::inference
