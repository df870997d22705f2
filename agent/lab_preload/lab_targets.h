#pragma once

#include "agent/intercept/elf_object.h"
#include "agent/lab_preload/lab_process.h"

namespace fieldcost::lab_preload {

// The functions that the program's calls lead to, and which of them are measured. See also
// intercept::StandBeforeCalls: its functions are those that the plan's globs match; the slots of
// those that the plan leaves alone are not redirected.

// Returns the loaded object that provides the target; null if unknown.
const intercept::ElfObject* ProviderOf(const Target& target);

}  // namespace fieldcost::lab_preload
