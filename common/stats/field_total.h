#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/stats/figures.h"

namespace fieldcost::stats {

// How much of the field a row speaks for, from 0 (one hardware class, one week) to 3 (all of both).
// Where an API's metric has rows of several widths only the widest count: the others are about the
// same calls.
int StratumWidth(const RowKey& key);

// How many calls of an API there were, timed or not: the sum of its calls_per_run, or the number of
// timed ones where that is not known or less (a run that has not ended has told only of these). Of
// the field both are the bounded ones of figures.h. nullopt if neither is known. At most 2^64-1.
std::optional<std::uint64_t> FieldCalls(const ApiSums* wall_time, const ApiSums* calls_per_run,
                                        Whose whose);

// What all these calls have cost together, in ns: their number times the mean of the timed ones;
// nullopt if that is not known. For display and order only.
std::optional<double> FieldTotal(const ApiSums* wall_time, const ApiSums* calls_per_run,
                                 Whose whose);

// The sum of FieldTotal() over all ApiKeys among these rows, the widest rows of each merged; 0 for
// those of which it is not known.
double FieldTotal(std::span<const StatRow> rows, Whose whose);

}  // namespace fieldcost::stats
