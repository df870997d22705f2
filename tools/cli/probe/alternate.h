#pragma once

#include "common/command/arguments.h"
#include "common/probe/groups.h"

namespace fieldcost::cli {

// Why nothing of a program can be recorded, as `measure` has it; fine if something can, or if that
// is not known. kNotFound, kUnsupported.
Status CheckRecordable(const std::string& program);

// Records the two programs behind "--" alternately, --runs times each, on this machine only, and
// compares their events. Reads --runs, --points, --label, --show-output. Errors: those of the
// recorder; kUnavailable if a program fails.
Result<probe::ComparedSides> CompareAlternately(const command::Arguments& arguments, double least);

}  // namespace fieldcost::cli
