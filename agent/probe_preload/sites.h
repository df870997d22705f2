#pragma once

#include <stdint.h>

#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

// Numbers of the sites that were passed, and their descriptions in the file. Keeps a private copy
// of these, with which a child of fork() begins its own file.

inline constexpr uint32_t kNoSite = ~uint32_t{0};

struct SiteText {
  const char* label;
  const char* file;  // or null, as the next
  const char* function;
  const char* symbol;  // or null; of a named point, whose `function` is the module's
  uint32_t line;
  uint32_t kind;  // shm::ProbeSiteKind
  uint32_t automatic;
};

// Returns the site's number, and writes its description to the file; kNoSite without room. Two
// threads may do this for one place: the caller keeps one of the numbers.
uint32_t AddSite(const SiteText& text);

// The number of an automatic point's site; made when it is first needed.
uint32_t AutomaticSite(shm::ProbeAutomatic point);

// The number of the site of events that join another process's.
uint32_t JoinSite();

// Writes the recorded sites to this process's new file.
void KeepSites();

// Returns which of the plan's names of events the site's label is (PlanEventCalled()). REQUIRES: a
// number of AddSite().
uint32_t PlanEventOf(uint32_t site);

}  // namespace fieldcost::probe_preload
