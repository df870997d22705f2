#pragma once

#include <stddef.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// Intercepts mmap. A library needs no call to read or write a file that it has mapped. After such a
// mapping, bytes are not measured for any call, since any call may lead into that library;
// OnFileMapped() (hooks.h) reports it. Files that the program itself maps are not reported: access
// to them is not attributed to the functions that receive the memory.
inline constexpr size_t kMapFunctionCount = 2;
extern const WrappedFunction kMapFunctions[kMapFunctionCount];

}  // namespace fieldcost::intercept
