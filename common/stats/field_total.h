#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/stats/stat_row.h"

namespace fieldcost::stats {

// How much of the field a row speaks for, from 0 (one hardware class, one week) to 3 (all of both).
// Where an API's metric has rows of several widths only the widest count: the others are about the
// same calls.
int StratumWidth(const RowKey& key);

// How many calls of an API there were, timed or not: the sum of its calls_per_run, or the number of
// timed ones where that is not known or less (a run that has not ended has told only of these).
// nullopt without either. At most 2^64-1.
std::optional<std::uint64_t> FieldCalls(const CostHistogram* wall_time,
                                        const CostHistogram* calls_per_run);

// What all these calls have cost together, in ns: their number times the mean of the timed ones; 0
// without wall time. For display and order only.
double FieldTotal(const CostHistogram* wall_time, const CostHistogram* calls_per_run);

// The sum of FieldTotal() over all ApiKeys among these rows, the widest rows of each merged.
double FieldTotal(std::span<const StatRow> rows);

}  // namespace fieldcost::stats
