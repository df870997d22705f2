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
  shm::MetricSet metrics;                // if says_metrics()
  shm::PolicyHeader policy;
  const shm::AllowedModule* allowed;  // in memory of our own; null before LoadPolicy()

  uint64_t request_id;  // of whoever asked for this run: FIELDCOST_ASKED; 0: nobody has
  bool is_asked;        // this very run was asked for
  bool is_chosen;       // the coin has chosen it, and it is measured as one of the field

  bool is_forced() const { return forced_pick[0] != '\0'; }
  // Measured for whoever asked for it, and for nobody else.
  bool is_only_asked() const { return is_asked && !is_chosen && !is_forced(); }
  // What to measure is said, not drawn.
  bool says_metrics() const { return is_forced() || is_only_asked(); }
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

// True if the policy says to measure: now, if it says not to until some time.
bool IsCollecting(const shm::PolicyHeader& policy);

// True if the policy lets APIs of this module be measured.
bool IsAllowed(const Request& request, const char* soname);

// The policy's weight for an API: 0..kFullWeight. Looked up in the file: the table may be large,
// and few entries of it are ever asked for.
uint32_t PolicyWeight(const Request& request, uint64_t api_hash);

// Counts, in the skip file if there is one, that this run does not take part.
void CountSkip(const Request& request, shm::Skip reason);

}  // namespace fieldcost::preload
