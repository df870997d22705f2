#pragma once

#include "agent/intercept/tables.h"
#include "agent/preload/candidates.h"
#include "agent/preload/sightings.h"

namespace fieldcost::preload {

// Data that only participating processes need, and that is too large for all others to carry.
struct Workspace {
  intercept::Tables tables;  // agent/intercept
  Picks drawn;               // measuring_run.cc
  Sightings sightings;       // sightings.cc
};

// Null before MakeWorkspace().
extern Workspace* workspace;

// Returns the program's own limit for an RLIMIT_...; 0 if it cannot be determined.
uint64_t LimitOf(int resource);

// Called by the constructor. Returns false if there is no memory, or if the program's own limits
// are so tight that it would miss the memory allocated here.
bool MakeWorkspace();
void DropWorkspace();

}  // namespace fieldcost::preload
