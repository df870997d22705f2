#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// Wrappers for the malloc family, ready for InstallWrappers: each successful allocation is reported
// to the user (hooks.h), in bytes as requested.
inline constexpr size_t kAllocFunctionCount = 9;
extern const WrappedFunction kAllocFunctions[kAllocFunctionCount];

bool IsAllocWrapper(uint64_t address);

}  // namespace fieldcost::intercept
