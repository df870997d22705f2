#pragma once

#include "common/command/arguments.h"
#include "common/probe/groups.h"

namespace fieldcost::cli {

// Returns why a program cannot be recorded, in the words of `measure`; OK if it can be, or if that
// is unknown. kNotFound, kUnsupported.
Status CheckRecordable(const std::string& program);

// Records the two programs after "--" alternately, --runs times each, on this machine only, and
// compares their events. Reads --runs, --points, --label, --show-output. Errors are those of the
// recorder, and kUnavailable if a program fails.
Result<probe::ComparedSides> CompareAlternately(const command::Arguments& arguments, double least);

}  // namespace fieldcost::cli
