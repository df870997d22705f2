#pragma once

#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/preload/candidates.h"
#include "common/shm/selection.h"

namespace fieldcost::preload {

// Draws picks among the functions that the program calls. A random part of the candidates is
// watched: their slots lead to stubs, whose first call (the sighting) enters the function into the
// draw and restores its slots unless it is picked. So a watched function costs at most one sighting
// per phase, a few system calls; a function that is not watched costs nothing.
//
// All functions REQUIRE the patch lock or the constructor.

// Watched functions use the last thunks; the picks of a run that watches use only the first ones.
inline constexpr uint32_t kFirstWatchThunk = intercept::kThunkCount - shm::kMaxWatched;

// A thunk belongs to its function for the life of the process: a call may be on its way into the
// stub while its slot is restored.
struct Watched {
  Candidate candidate;
  uint64_t api_hash;     // identifies the function when its library is unloaded and reloaded
  uint32_t name_number;  // shm::WatchNumber()
  uint32_t chance;       // of being watched, per 65536
  uint32_t pick;         // if it was picked in this phase; else kNoPick
  bool is_sighted;       // in this phase, or need not be sighted
  bool is_gone;          // its library was unloaded: the candidate's pointers are invalid
  bool from_start;       // its object was loaded when the program began
};

// In the workspace.
struct Sightings {
  Watched watched[shm::kMaxWatched];
  uint32_t count;
  uint32_t called;  // in this phase
  shm::WatchChances chances;
  uint32_t later_chance;  // of names imported only by libraries that dlopen loaded
  bool is_watching;
  bool has_begun;
  bool is_later;          // a phase after the first
  uint64_t random_names;  // decides which names are watched, for the life of the process
  uint64_t random_places;
  shm::Places places;
};

// Decides, by a random number, which names are watched in this process for `wanted` picks per
// phase. Returns whether any of the space's slots leads to such a function.
bool IsAnythingToWatch(const RunRequest& request, const intercept::SlotSpace& space,
                       uint64_t random, uint32_t wanted);

// Begins a phase: watches functions that the space's slots lead to, for `wanted` picks.
void BeginWatching(const RunRequest& request, const intercept::SlotSpace& space, uint64_t random,
                   uint32_t wanted);

// Also watches functions that the slots of the objects from `first_object` on lead to.
void WatchMore(const RunRequest& request, const intercept::SlotSpace& space, uint32_t first_object);

// Handles the call of a watched function. Returns its pick; kNoPick if it is not picked.
uint32_t OnSighting(const RunRequest& request, uint32_t thunk);

// Restores the slots of all watched functions that were not called.
void StopWatching();

// Forgets functions in objects loaded by dlopen. The objects are still loaded, or were unloaded
// unnoticed.
void LeaveWatchedDynamicObjects();

}  // namespace fieldcost::preload
