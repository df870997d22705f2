#pragma once

#include <stdint.h>

#include "agent/intercept/mapped_memory.h"

namespace fieldcost::intercept {

// Creates this process's file in the plan's directory (plan_directory.h), named after its id, the
// time and `suffix`, and maps it (MakeMappedFile). Returns null, leaving nothing there, if any step
// fails, if the directory is not in memory, or if this program's limits leave less than twice the
// size.
void* MakeProcessFile(uint32_t pid, const char* suffix, const Beginning& beginning, uint64_t size);

}  // namespace fieldcost::intercept
