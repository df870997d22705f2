#pragma once

#include "agent/intercept/tables.h"
#include "agent/preload/candidates.h"
#include "agent/preload/sightings.h"

namespace fieldcost::preload {

// What only a process that takes part needs, and what is too big for everyone to carry.
struct Workspace {
  intercept::Tables tables;  // agent/intercept
  Picks drawn;               // measuring_run.cc
  Sightings sightings;       // sightings.cc
};

// Null before MakeWorkspace().
extern Workspace* workspace;

// The program's own limit for an RLIMIT_...; 0 if it cannot be told.
uint64_t LimitOf(int resource);

// Serves the constructor. False if there is no memory, or the program's own limits are so tight
// that it would miss what is taken here.
bool MakeWorkspace();
void DropWorkspace();

}  // namespace fieldcost::preload
