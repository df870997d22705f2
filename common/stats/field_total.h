#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "common/stats/figures.h"

namespace fieldcost::stats {

// How much of the field a row covers, from 0 (one hardware class, one week) to 3 (all classes, all
// weeks). If an API's metric has rows of several widths, only the widest count: the others cover
// the same calls.
int StratumWidth(const RowKey& key);

// The inputs of one API's total; unknown ones are null.
struct TotalParts {
  const ApiSums* wall_time = nullptr;
  const ApiSums* wall_time_busy = nullptr;
  const ApiSums* calls_per_run = nullptr;
  const ApiSums* time_per_run = nullptr;
};

// The number of calls of an API in the measured runs, timed or not: the sum of its calls_per_run
// or, if that is unknown or lower, the number of calls that the timed ones represent (a run that
// has not ended has reported only these). For the field, both are the bounded ones of figures.h.
// nullopt if neither is known. At most 2^64-1.
std::optional<std::uint64_t> FieldCalls(const TotalParts& parts, Whose whose);

// The total cost of calls in ns. For display and ordering only.
struct FieldCost {
  // Whether it is the cost in all runs, estimated from the time_per_run of the measured ones. If
  // false, it is the cost in measured runs alone, a lower bound.
  bool of_all_runs = false;
  double ns = 0;
  // If of_all_runs: the standard error due to measuring only some runs. It does not include
  // differences between machines.
  double standard_error_ns = 0;

  // Adds the cost of another API. Costs in measured runs cannot be added to costs in all runs: if
  // both occur, only the latter are summed.
  void Add(const FieldCost& other);
  // Costs in all runs rank above costs in measured runs.
  std::partial_ordering operator<=>(const FieldCost& other) const;
  bool operator==(const FieldCost& other) const = default;
};

// Returns the sum of time_per_run or, if that is unknown, the number of calls times the mean of the
// timed ones. nullopt if neither is known.
std::optional<FieldCost> FieldTotal(const TotalParts& parts, Whose whose);

// The total over all ApiKeys in these rows, from the widest rows of each, merged. Unknown costs are
// left out.
FieldCost FieldTotal(std::span<const StatRow> rows, Whose whose);

}  // namespace fieldcost::stats
