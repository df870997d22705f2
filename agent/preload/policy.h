#pragma once

#include <stdint.h>

#include "common/shm/policy_file.h"

namespace fieldcost::preload {

// What the environment and the policy file ask of this process.
struct Request {
  const char* state_dir;    // absolute
  const char* forced_pick;  // "soname!symbol" globs, comma-separated; null: draw at random
  shm::MetricSet metrics;   // of a forced pick
  const shm::PolicyHeader* policy;
  const shm::AllowedModule* allowed;
  uint64_t policy_bytes;  // mapped
};

// Reads FIELDCOST_* from `environment` and maps the policy file. False: stay inert (not asked, no
// policy, not understood, switched off, privileged process).
bool ReadRequest(char** environment, Request* request);

// True if the policy lets APIs of this module be measured.
bool IsAllowed(const Request& request, const char* soname);

// The coin flip and the load check. Costs a few system calls.
bool TakesPart(const Request& request, uint64_t random);

void ReleasePolicy(const Request& request);

}  // namespace fieldcost::preload
