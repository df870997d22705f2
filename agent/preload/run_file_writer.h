#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"
#include "agent/preload/policy.h"

namespace fieldcost::preload {

// Makes this process's run file (mode 0600, never through a link), locks it for the life of the
// process and maps it: fills process.header, .cells, .slot_bytes, .pick_bytes.
// Its descriptor is kept at a high number, close-on-exec. `metrics` is what every pick carries.
// False, and nothing left behind, if any step fails.
bool CreateRunFile(const Request& request, const Picks& picks, shm::MetricSet metrics,
                   uint64_t random, uint32_t bias_ns);

}  // namespace fieldcost::preload
