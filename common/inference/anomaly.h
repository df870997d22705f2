#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/inference/machine_variation.h"
#include "common/inference/permutation.h"
#include "common/stats/api_sums.h"

namespace fieldcost::inference {

// Is my profile worse than the field? Pure functions, thread-safe: compare each API (in parallel,
// if you like), then decide about all of them together.

// The thresholds of a comparison.
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
  // tested, and the two effects are relative to the typical machine.
  bool few_machines = false;
  // For information only: it uses only buckets, so it is blind within a power of two, and treats
  // the calls of one machine as independent.
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

// Compares my calls with the field's. `own`, if known, is my part of the field's sums, which is
// subtracted first. If it cannot be part of them (for example, in a stale field), nothing is
// subtracted and own_removed stays false: the comparison is then slightly too mild. `salt` is that
// of TestCalls(). REQUIRES: all are valid.
Comparison Compare(const stats::CostHistogram& mine, const stats::ApiSums& field,
                   const stats::ApiSums* own = nullptr, std::uint64_t salt = 0);

// Subtracts `own` from `field`, and own.fullest_week from the field's fullest quarter, which must
// be the same week or none; returns false, without a change, if it cannot be part of the field.
// Weights that cannot be part of it are dropped. Bounded sums stay, since my part of them is
// bounded like all others.
bool TakeOut(const stats::ApiSums& own, stats::ApiSums& field);

// Sets q and verdict of each, by Benjamini and Hochberg's procedure over the eligible. kWorse:
// q <= kFalseDiscoveries, and effects of kLeastDelta and kLeastRatio at least.
void Decide(std::span<Comparison> report);

}  // namespace fieldcost::inference
