#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// A profile: what one machine has measured, in a file, to be compared with the field (`fieldcost
// check FILE`). Its bytes are those of a fragment (fragment.h) whose rows all are of one hardware
// class, of all weeks (week 0), one contribution each, without weights, bounded sums and
// fullest quarter (USER_FILES.md). Pure functions, thread-safe.

// The rows of one machine as those of its profile: the weeks of an API and metric summed, in
// ascending order, with the scalars of one contribution. All else of `rows` is ignored.
std::vector<stats::StatRow> ProfileRows(const std::vector<stats::StatRow>& rows);

// The profile of one machine's rows, in any order and of any weeks. kInvalidArgument if a row is
// invalid, or they are of several classes or of "all classes"; kTooLarge beyond kMaxProfileRows.
// Deterministic as EncodeFragment().
Result<std::string> EncodeProfile(const std::vector<stats::StatRow>& rows);

// The rows of a profile, ascending by key, as ProfileRows() makes them. kCorrupt, kTooLarge or
// kUnsupported unless it is a profile, for example for a fragment of the catalogue.
Result<std::vector<stats::StatRow>> DecodeProfile(std::string_view untrusted_bytes);

}  // namespace fieldcost::wire
