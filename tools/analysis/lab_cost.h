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

// Summarises each API of a lab table. Pure functions of their arguments.

// One line of the lab's table.
struct LabCost {
  // The metrics, as for own measurements: every call has equal weight. Contributions are the runs
  // of the scenario.
  CostSummary summary;
  bool is_own = false;                 // of a library that is not public
  std::uint64_t calls = 0;             // exact, in the first counted run that called it
  std::vector<wire::LabTotal> totals;  // minimum and maximum of the counted runs
  std::uint64_t runs = 0;              // in which its calls were timed
  // The factor by which the runs' means differ, minus 1: 0.02 = 2 %. One standard deviation of the
  // geometric mean costs; nullopt with fewer than 3 runs, or if each run has one call, because then
  // it would be the variation between calls.
  std::optional<double> run_spread;
  std::optional<double> alloc_per_call;  // bytes, including callees; nullopt = unknown
  stats::ShapeResult shape;
  std::optional<ContextPenalty> field;  // nullopt = not compared, or too little is known

  // The time of all `calls` in ns: their number times the mean of the timed calls. nullopt = no
  // call was timed.
  std::optional<double> TotalNs() const;
};

// One per called API, in the table's order. As expensive as about four quantiles each.
std::vector<LabCost> LabCosts(const wire::LabTable& table);

// The time of all functions together in ns; nested calls make it exceed the run's time.
double WholeNs(std::span<const LabCost> costs);

// Sorts by descending cost; functions without a known cost come last, ties by name.
void Sort(std::vector<LabCost>& costs, SortKey key);

}  // namespace fieldcost::analysis
