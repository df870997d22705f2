#pragma once

#include <stdint.h>

#include "agent/intercept/mapped_memory.h"

namespace fieldcost::intercept {

// Makes the file of this process in the plan's directory (plan_directory.h), named by its id, the
// time and `suffix`, and maps it (MakeMappedFile). Null, and nothing left behind, if any step
// fails, if the directory is not on memory, or if this program's limits leave less than twice as
// much.
void* MakeProcessFile(uint32_t pid, const char* suffix, const Beginning& beginning, uint64_t size);

}  // namespace fieldcost::intercept
