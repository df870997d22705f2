#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "common/stats/stat_row.h"

namespace fieldcost::wire {

// How rows of a fragment are parts of each other (FRAGMENTS.md): the rows of single hardware
// classes of those for all classes, quarters of rows. A group is all rows of one API and metric,
// ascending by key. For this folder's codecs only. Pure.

// The length of the group that begins with `rows`. REQUIRES: there is a row.
std::size_t GroupLength(std::span<const stats::StatRow> rows);

// Whether the group's first row is a total with parts.
bool HasTotal(std::span<const stats::StatRow> group);
// Whether the row is a part if its group has a total.
bool IsPart(const stats::StatRow& row);

// A total without its parts.
struct TotalRest {
  stats::CostHistogram histogram;
  stats::ContributionScalars quarter;  // of the total's fullest quarter
  stats::ContributionScalars scalars;  // all
};
// Absent if a sum of the parts is above the total's. REQUIRES: HasTotal(group).
std::optional<TotalRest> RestOfTotal(std::span<const stats::StatRow> group);

// Adds the parts to the first row, which holds the sums of a TotalRest. False if a sum overflows.
// REQUIRES: HasTotal(group).
[[nodiscard]] bool AddPartsToTotal(std::span<stats::StatRow> group);

// The row's scalars without those of its fullest quarter. REQUIRES: the row is valid.
stats::ContributionScalars OutsideQuarter(const stats::StatRow& row);

}  // namespace fieldcost::wire
