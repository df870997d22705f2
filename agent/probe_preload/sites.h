#pragma once

#include <stdint.h>

#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

// Numbers of the sites that were passed, and their descriptions in the file. Keeps a private copy
// of these, from which a child of fork() starts its own file.

inline constexpr uint32_t kNoSite = ~uint32_t{0};

struct SiteText {
  const char* label;
  const char* file;  // or null; so is `function`
  const char* function;
  const char* symbol;  // or null; that of a named point, whose `function` is the module's name
  uint32_t line;
  uint32_t kind;  // shm::ProbeSiteKind
  uint32_t automatic;
};

// Returns the site's number and writes its description to the file; kNoSite if there is no room.
// Two threads may do this concurrently for one place: the caller keeps one of the numbers.
uint32_t AddSite(const SiteText& text);

// Returns the number of an automatic point's site, which is created on first use.
uint32_t AutomaticSite(shm::ProbeAutomatic point);

// Returns the number of the site of events that join another process's event.
uint32_t JoinSite();

// Writes the recorded sites to this process's new file.
void KeepSites();

// Returns the number of the plan's event name that equals the site's label (PlanEventCalled()).
// REQUIRES: a number returned by AddSite().
uint32_t PlanEventOf(uint32_t site);

}  // namespace fieldcost::probe_preload
