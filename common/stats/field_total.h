#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "common/stats/figures.h"

namespace fieldcost::stats {

// How much of the field a row speaks for, from 0 (one hardware class, one week) to 3 (all of both).
// Where an API's metric has rows of several widths only the widest count: the others are about the
// same calls.
int StratumWidth(const RowKey& key);

// The sums of one API that its total is made of; those that are not known are null.
struct TotalParts {
  const ApiSums* wall_time = nullptr;
  const ApiSums* wall_time_busy = nullptr;
  const ApiSums* calls_per_run = nullptr;
  const ApiSums* time_per_run = nullptr;
};

// How many calls of an API there were in the measured runs, timed or not: the sum of its
// calls_per_run, or the number that those timed stand for where that is not known or less (a run
// that has not ended has told only of these). Of the field both are the bounded ones of figures.h.
// nullopt if neither is known. At most 2^64-1.
std::optional<std::uint64_t> FieldCalls(const TotalParts& parts, Whose whose);

// What calls have cost together, in ns. For display and order only.
struct FieldCost {
  // Whether it is the cost in all runs, estimated from the time_per_run of the measured ones. If
  // false, it is the cost in measured runs alone, a lower bound.
  bool of_all_runs = false;
  double ns = 0;
  // If of_all_runs: the standard error that comes from measuring only some runs. Differences
  // between machines are not in it.
  double standard_error_ns = 0;

  // Adds what another API has cost. What is of measured runs only cannot be added to what is of all
  // runs, and is left out.
  void Add(const FieldCost& other);
  // What is of all runs is above what is not.
  std::partial_ordering operator<=>(const FieldCost& other) const;
  bool operator==(const FieldCost& other) const = default;
};

// Takes the sum of time_per_run; where it is not known, the number of calls times the mean of those
// timed. nullopt if neither is known.
std::optional<FieldCost> FieldTotal(const TotalParts& parts, Whose whose);

// All ApiKeys among these rows together, the widest rows of each merged; what is not known is left
// out.
FieldCost FieldTotal(std::span<const StatRow> rows, Whose whose);

}  // namespace fieldcost::stats
