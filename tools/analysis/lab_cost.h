#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/stats/shape.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/context_penalty.h"
#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// Makes of a lab table what is known of each API. Pure functions of their arguments.

// One line of the lab's table.
struct LabCost {
  // Its metrics, as one's own: every call counts the same. Contributions are runs of the scenario.
  CostSummary summary;
  bool is_own = false;                 // not of a public library
  std::uint64_t calls = 0;             // exactly, in the first counted run that called it
  std::vector<wire::LabTotal> totals;  // least and most of the counted runs
  std::uint64_t runs = 0;              // in which its calls were timed
  // By what factor the runs' means differ, less 1: 0.02 = 2 %. Of geometric means of costs, one
  // standard deviation; nullopt with fewer than 3 runs, or where runs have one call each: then it
  // is what calls differ by.
  std::optional<double> run_spread;
  std::optional<double> alloc_per_call;  // bytes, callees included; nullopt = not known
  stats::ShapeResult shape;
  std::optional<ContextPenalty> field;  // nullopt = not compared, or not enough is known

  // The time of all `calls`, ns: their number by the mean of those timed. nullopt = none timed.
  std::optional<double> TotalNs() const;
};

// One for each API that was called, in the table's order. Takes about four quantiles each.
std::vector<LabCost> LabCosts(const wire::LabTable& table);

// The time of all functions together, ns: of nested calls more than the run took.
double WholeNs(std::span<const LabCost> costs);

// Sorts by descending cost; functions without a known cost come last, equal ones by name.
void Sort(std::vector<LabCost>& costs, SortKey key);

}  // namespace fieldcost::analysis
