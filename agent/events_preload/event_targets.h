#pragma once

#include <stdint.h>

namespace fieldcost::events_preload {

// The APIs that the plan's globs name, where slots lead to them. Targets are made of them by
// intercept::StandBeforeCalls.

// Adds the API to the arena, once. Called at its first call.
void Describe(uint32_t api);

}  // namespace fieldcost::events_preload
