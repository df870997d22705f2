#pragma once

#include <stddef.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// mmap: what a library reads and writes in a file that it has mapped goes through no call. From
// then on these bytes are not measured of any call, since any may lead into that library: the user
// learns of it by OnFileMapped() (hooks.h). What the program itself maps is its own, and not the
// functions' that it hands the memory to.
inline constexpr size_t kMapFunctionCount = 2;
extern const WrappedFunction kMapFunctions[kMapFunctionCount];

}  // namespace fieldcost::intercept
