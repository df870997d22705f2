#pragma once

#include "agent/preload/alloc_meter.h"

namespace fieldcost::preload {

// The ways into a sandbox (prctl, syscall), wrapped like the allocation functions. Under seccomp
// our system calls may be deadly, and in strict mode, as after PR_SET_TSC, so is reading the time
// stamp counter: a process that is about to go there is detached first, for good.
inline constexpr size_t kSandboxFunctionCount = 2;
extern const AllocFunction kSandboxFunctions[kSandboxFunctionCount];

}  // namespace fieldcost::preload
