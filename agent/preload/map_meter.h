#pragma once

#include <stddef.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::preload {

// mmap: what a library reads and writes in a file that it has mapped goes through no call. From
// then on these bytes are not measured of any pick, since any may lead into that library. Installed
// in runs that meter I/O. What the program itself maps is its own, and not the functions' that it
// hands the memory to.
inline constexpr size_t kMapFunctionCount = 2;
extern const intercept::WrappedFunction kMapFunctions[kMapFunctionCount];

}  // namespace fieldcost::preload
