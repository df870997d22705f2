#pragma once

#include <stdint.h>

#include "agent/intercept/text_builder.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::preload {

// Returned by each step of a run that succeeds; a step that fails returns the reason to skip the
// run.
inline constexpr auto kNoSkip = static_cast<shm::Skip>(~uint32_t{0});

// The requests of the environment and the policy file to this process. Owns its strings: the
// program may change its environment.
struct RunRequest {
  char state_dir[intercept::kMaxPath];   // absolute
  char forced_pick[shm::kMaxPickBytes];  // "soname!symbol" globs, comma-separated; "": draw at
                                         // random
  shm::MetricSet metrics;                // if says_metrics()
  shm::PolicyHeader policy;
  const shm::AllowedModule* allowed;  // in our own memory; null before LoadPolicy()

  uint64_t request_id;  // FIELDCOST_ASKED, identifies the request for this run; 0: none
  bool is_asked;        // this run itself was requested
  bool is_chosen;       // chosen by the coin, and measured as a field run

  bool is_forced() const { return forced_pick[0] != '\0'; }
  // True if the run is measured only for its requester, not for the field.
  bool is_only_asked() const { return is_asked && !is_chosen && !is_forced(); }
  // True if the metrics are given, not drawn.
  bool says_metrics() const { return is_forced() || is_only_asked(); }
  // The number of APIs to draw at once.
  uint32_t wanted_picks() const;
};

// Reads FIELDCOST_* from `environment` and the header of the policy file. Returns false if the
// library must stay inert (not requested; no policy, or one that is unknown or disabled; a
// privileged process).
bool ReadRequest(char** environment, RunRequest* request);

// Copies the current policy file, with its list of modules, so that later changes of the file have
// no effect. On failure returns false and keeps the previous policy. A policy that disables
// collection is read like any other.
bool LoadPolicy(RunRequest* request);
void ReleasePolicy(RunRequest* request);

// Returns true if the policy permits measuring now; a temporary pause may have ended.
bool IsCollecting(const shm::PolicyHeader& policy);

// Returns true if the policy permits measuring APIs of this module.
bool IsAllowed(const RunRequest& request, const char* soname);

// Returns the policy's weight for an API: 0..kFullWeight. Looks it up in the file: the table may be
// large, and few of its entries are ever needed.
uint32_t PolicyWeight(const RunRequest& request, uint64_t api_hash);

// Returns whether a name is documented according to the policy: kUnknown if it has no documented
// names or if the file has changed.
enum class Documented { kUnknown, kNo, kYes };
Documented IsDocumented(const RunRequest& request, const char* symbol);

// Counts this skipped run in the skip file, if there is one.
void CountSkip(const RunRequest& request, shm::Skip reason);

}  // namespace fieldcost::preload
