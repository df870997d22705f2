#pragma once

#include <stddef.h>

#include "agent/intercept/slots.h"

namespace fieldcost::trace_preload {

// Stands in front of the functions that allocate, give back and move bytes, and says in the arena's
// header what is measured so. REQUIRES: the constructor.
void InstallMeters(const intercept::SlotSpace& space);

}  // namespace fieldcost::trace_preload
