#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/wire/lab_table.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::report {

// The stacks of a lab table for tools that others make. Calls and bytes are exact, as in the map
// runs. Time is estimated, since no call is timed together with its callees: what a stack's
// innermost function takes is its calls by the mean cost of all its timed calls, less what those
// below it take by the same rule; where these are more than their caller's, they share that in
// proportion. A function that was not timed, and an inner call of a recursion, takes what is below
// it. So no time counts twice, and none is negative.

// ns of each of the table's stacks without what it calls.
std::vector<double> EstimatedSelfTimes(const wire::LabTable& table);

// Folded stacks, "libz.so.1!gzread;libz.so.1!inflate 1234": estimated ns, a line a stack of 1 ns or
// more. The format has no place to say so.
std::string LabFolded(const wire::LabTable& table);

// Calls, allocated bytes, and time, which tools show first; a comment says that it is estimated.
exchange::PprofContent LabPprofContent(const wire::LabTable& table);
// As exchange::EncodePprof().
Result<std::string> LabPprof(const wire::LabTable& table);

}  // namespace fieldcost::report
