#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"
#include "agent/preload/policy.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

// Makes this process's run file (mode 0600, never through a link) with room for
// process.pick_capacity picks of process.metrics, and maps it: fills process.header, .cells,
// .counters and the distances. It is locked for as long as this process image has it mapped; no
// descriptor stays open, and a child of fork() has no part in it.
// Says why, and leaves nothing behind, if any step fails; else kNoSkip.
shm::Skip CreateRunFile(const Request& request, uint64_t random);

// Whether the API's names are short enough to be written down whole.
bool CanBeDescribed(const Candidate& candidate);

// Describes a pick in the run file, behind those that are there. Its room is made before it is
// written to. Null if there is no room, or if the API cannot be described. It
// stands for no other run until its place in the draw is described (sightings.cc).
shm::Pick* DescribePick(const Candidate& candidate, uint32_t sampling_log2);

}  // namespace fieldcost::preload
