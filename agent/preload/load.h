#pragma once

#include "agent/preload/policy.h"

namespace fieldcost::preload {

// True if the system has so much to do that nothing should be measured now.
bool IsSystemLoaded(const shm::PolicyHeader& policy);

// True if the daemon has not collected the run files for so long that no more should be made.
bool AreTooManyRunFiles(const Request& request);

// Takes one of the policy's leases, each of which lets one program of this user be measured. It is
// held until it is given back or this process image ends, however it ends: the lock belongs to an
// open file that only a mapping refers to. False if all are taken.
bool TakeLease(const Request& request);
void GiveBackLease();

}  // namespace fieldcost::preload
