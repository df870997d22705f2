#pragma once

#include <cstdint>
#include <span>

#include "common/inference/machine_variation.h"
#include "common/inference/permutation.h"
#include "common/inference/verdict.h"
#include "common/stats/api_sums.h"

namespace fieldcost::inference {

// Tests whether one machine's profile ("mine") is worse than the field. Call Compare() for each
// API, in parallel if you like, then Decide() for all of them together. Pure functions,
// thread-safe.

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

  bool eligible() const { return kFieldThresholds.IsEnough(calls, machines); }
};

// Compares my calls with the field's. `own`, if known, is my part of the field's sums and is
// subtracted first. If it cannot be part of them (for example, because the field is stale), nothing
// is subtracted and own_removed stays false: the comparison is then slightly too lenient. `salt` is
// passed to TestCalls(). REQUIRES: all are valid.
Comparison Compare(const stats::CostHistogram& mine, const stats::ApiSums& field,
                   const stats::ApiSums* own = nullptr, std::uint64_t salt = 0);

// Subtracts `own` from `field`, and own.fullest_quarter from the field's fullest quarter, which
// must be the same quarter or none. Returns false, without a change, if `own` cannot be part of
// `field`. Drops weights that cannot be part of it. Bounded sums stay, since my part of them is
// bounded like all others.
bool TakeOut(const stats::ApiSums& own, stats::ApiSums& field);

// Sets q and verdict of each, by Benjamini and Hochberg's procedure over the eligible ones. kMore
// requires the effects of kFieldThresholds; the test is one-sided, so no verdict is kLess.
void Decide(std::span<Comparison> report);

}  // namespace fieldcost::inference
