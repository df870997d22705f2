#pragma once

#include <cstdint>

#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/stat_row.h"
#include "common/stats/uint128.h"
#include "common/wire/number_columns.h"

namespace fieldcost::wire {

// The sums of a row as numbers of a fragment: what each is expected to be, and how far it is from
// that (FRAGMENTS.md). All arithmetic is modulo 2^128, so that every value can be written and any
// numbers can be read; whether the values are possible is checked afterwards. For this folder's
// codecs only.

// The numbers of an earlier set that the next one is likely to share.
struct SetReference {
  stats::Uint128 contributions = 0;
  stats::Uint128 inverse_calls = 0;
  stats::Uint128 within_freedom = 0;
};
SetReference ReferenceTo(const stats::ContributionScalars& set);

// A set of contribution scalars. `previous` is the mean of the group's previous set, rounded down,
// or 0; it becomes this set's unless it is empty. REQUIRES, to write: all scalars are 0 if
// contributions are, and squares and means have the same parity.
void WriteSet(const stats::ContributionScalars& set, const SetReference& reference,
              stats::Int128& previous, NumberWriter& writer);
stats::ContributionScalars ReadSet(const SetReference& reference, stats::Int128& previous,
                                   NumberReader& untrusted_reader);

// A bucket without its slot. REQUIRES: the slot is one; to write: the count is not 0, and sum and
// sum of squares have the same parity. Reading a count of 0 fails the reader.
void WriteBucket(unsigned slot, const stats::Bucket& bucket, NumberWriter& writer);
stats::Bucket ReadBucket(unsigned slot, NumberReader& untrusted_reader);

// The bounded sums that a row is expected to have. REQUIRES: the histogram is not empty.
stats::Uint128 ExpectedBoundedCalls(const stats::ContributionScalars& scalars);
stats::Uint128 ExpectedBoundedSum(const stats::Bucket& totals, std::uint64_t bounded_calls);

}  // namespace fieldcost::wire
