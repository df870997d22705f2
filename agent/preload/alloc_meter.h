#pragma once

#include <stddef.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::preload {

// The malloc family, wrapped: a wrapper calls the real function and, while its thread measures a
// pick and allocation is metered, adds the bytes asked for to the thread's counters.
inline constexpr size_t kAllocFunctionCount = 9;
extern const intercept::WrappedFunction kAllocFunctions[kAllocFunctionCount];

}  // namespace fieldcost::preload
