#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// A period is four weeks since 1970, named by its first week.
inline constexpr std::uint32_t kWeeksPerPeriod = 4;
constexpr std::uint32_t FirstWeekOfPeriod(std::uint32_t week) {
  return week - week % kWeeksPerPeriod;
}

// Encodes the history of the APIs that hash into one part of the catalogue (FRAGMENTS.md): for each
// API, metric and period one row over all hardware classes, sorted by key, with the period's first
// week. Rows have calls, contributions and their scalars, but no weights, bounded sums and fullest
// quarter. Exact and deterministic. kInvalidArgument if a row is another, kTooLarge. Pure
// functions, thread-safe.
Result<std::string> EncodePeriodFragment(const std::vector<stats::StatRow>& sorted_rows);

// kCorrupt, kTooLarge or kUnsupported unless every row is as above and rows are strictly ascending
// by key. kTooLarge if there are more than `max_rows` rows; each takes about 4 KiB of memory.
Result<std::vector<stats::StatRow>> DecodePeriodFragment(std::string_view untrusted_bytes,
                                                         std::size_t max_rows = kMaxFragmentRows);

}  // namespace fieldcost::wire
