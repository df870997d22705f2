#pragma once

#include <stddef.h>

#include "agent/intercept/slots.h"

namespace fieldcost::events_preload {

// Intercepts the functions that allocate, free and move bytes, and records in the arena's header
// which metrics are measured. REQUIRES: the constructor.
void InstallMeters(const intercept::SlotSpace& space);

}  // namespace fieldcost::events_preload
