#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/wire/lab_table.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::report {

// Exports the stacks of a lab table for other programs. Calls and bytes are exact, as in the map
// runs. Time is estimated, since no call is timed together with its callees: the innermost function
// of a stack takes its number of calls times the mean cost of all its timed calls, minus the time
// of its callees by the same rule; if these exceed their caller's time, they share it in
// proportion. An untimed function, or an inner call of a recursion, takes the time of its callees.
// So no time is counted twice, and none is negative.

// The self time of each of the table's stacks, in ns.
std::vector<double> EstimatedSelfTimes(const wire::LabTable& table);

// Folded stacks, "libz.so.1!gzread;libz.so.1!inflate 1234": estimated ns, one line per stack of at
// least 1 ns. The format cannot mark values as estimates.
std::string LabFolded(const wire::LabTable& table);

// Calls, allocated bytes, and time, which tools show first; a comment marks time as estimated.
exchange::PprofContent LabPprofContent(const wire::LabTable& table);
// Errors as exchange::EncodePprof().
Result<std::string> LabPprof(const wire::LabTable& table);

}  // namespace fieldcost::report
