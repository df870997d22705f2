#pragma once

#include <stdint.h>

#include "agent/intercept/text.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::preload {

// What a step of a run returns that was taken; else it says why not.
inline constexpr auto kNoSkip = static_cast<shm::Skip>(~uint32_t{0});

// What the environment and the policy file ask of this process. Owns its texts: the program may
// change its environment.
struct Request {
  char state_dir[intercept::kMaxPath];   // absolute
  char forced_pick[shm::kMaxPickBytes];  // "soname!symbol" globs, comma-separated; "": draw at
                                         // random
  shm::MetricSet metrics;                // of a forced pick
  shm::PolicyHeader policy;
  const shm::AllowedModule* allowed;  // in memory of our own; null before LoadPolicy()

  bool is_asked;   // this very run was asked for
  bool is_chosen;  // the coin has chosen it

  bool is_forced() const { return forced_pick[0] != '\0'; }
  // Measured for whoever asked for it, and for nobody else.
  bool is_only_asked() const { return is_asked && !is_chosen && !is_forced(); }
  // How many APIs are drawn at once.
  uint32_t wanted_picks() const;
};

// Reads FIELDCOST_* from `environment` and the head of the policy file. False: stay inert (not
// asked, no policy, not understood, switched off, privileged process).
bool ReadRequest(char** environment, Request* request);

// Reads the policy file as it is now, with its list of modules, into memory that no change of the
// file reaches. False, and what was read before stays, if that is not possible; a policy that
// switches collection off is read like any other.
bool LoadPolicy(Request* request);
void ReleasePolicy(Request* request);

// True if the policy lets APIs of this module be measured.
bool IsAllowed(const Request& request, const char* soname);

// The policy's weight for an API: 0..kFullWeight. Looked up in the file: the table may be large,
// and few entries of it are ever asked for.
uint32_t PolicyWeight(const Request& request, uint64_t api_hash);

// Counts, in the skip file if there is one, that this run does not take part.
void CountSkip(const Request& request, shm::Skip reason);

}  // namespace fieldcost::preload
