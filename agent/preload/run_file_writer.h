#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"
#include "agent/preload/preload_policy.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

// Creates this process's run file (mode 0600, never through a link) with room for
// process.pick_capacity picks of process.metrics, and maps it: sets process.header, .cells,
// .counters and the distances. The file is locked as long as this process image has it mapped; no
// descriptor stays open, and children of fork() do not inherit it. Returns kNoSkip or, if any step
// fails, the reason; then no file remains.
shm::Skip CreateRunFile(const RunRequest& request, uint64_t random);

// Returns whether the API's names are short enough to be stored in full.
bool CanBeDescribed(const Candidate& candidate);

// Appends the description of a pick to the run file, in pages that are populated first. Returns
// null if there is no room or the API cannot be described. The pick represents no other runs until
// its place in the draw is described (sightings.cc).
shm::Pick* DescribePick(const Candidate& candidate, uint32_t sampling_log2);

}  // namespace fieldcost::preload
