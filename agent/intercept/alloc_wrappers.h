#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// The malloc family with wrappers in front, ready for InstallWrappers: each allocation that
// succeeds is told to its user (hooks.h), in bytes as asked for.
inline constexpr size_t kAllocFunctionCount = 9;
extern const WrappedFunction kAllocFunctions[kAllocFunctionCount];

bool IsAllocWrapper(uint64_t address);

}  // namespace fieldcost::intercept
