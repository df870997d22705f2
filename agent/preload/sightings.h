#pragma once

#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/preload/candidates.h"
#include "common/shm/selection.h"

namespace fieldcost::preload {

// Draws picks among the functions that the program calls. A random part of the candidates is
// watched: their slots lead to stubs, whose first call (the sighting) puts the function into the
// draw and gives its slots back, unless it is picked. So a function costs at most one sighting per
// phase, a few system calls, and one that is not watched costs nothing.
//
// All functions REQUIRE the patch lock, or the constructor.

// Watched functions have the last thunks; the picks of a run that watches have only the first ones.
inline constexpr uint32_t kFirstWatchThunk = intercept::kThunkCount - shm::kMaxWatched;

// A thunk stays with its function as long as the process lives: a call may be on its way into the
// stub while its slot is given back.
struct Watched {
  Candidate candidate;
  uint64_t api_hash;     // finds it again when its library was unloaded and has come back
  uint32_t name_number;  // shm::WatchNumber()
  uint32_t chance;       // that it is watched, per 65536
  uint32_t pick;         // if it was picked in this phase; else kNoPick
  bool is_sighted;       // in this phase, or it need not be
  bool is_gone;          // with its library: the candidate's pointers lead nowhere
  bool from_start;       // of an object that was there when the program began
};

// In the workspace.
struct Sightings {
  Watched watched[shm::kMaxWatched];
  uint32_t count;
  uint32_t called;  // in this phase
  shm::WatchChances chances;
  uint32_t later_chance;  // of names that only what dlopen brought imports
  bool is_watching;
  bool has_begun;
  bool is_later;          // a phase after the first
  uint64_t random_names;  // decides which names are watched, for as long as the process lives
  uint64_t random_places;
  shm::Places places;
};

// Decides, by a random number, which names are watched in this process for `wanted` picks a phase,
// and whether any of the space's slots leads to such a function.
bool IsAnythingToWatch(const Request& request, const intercept::SlotSpace& space, uint64_t random,
                       uint32_t wanted);

// Begins a phase: watches what the space's slots lead to, for `wanted` picks.
void BeginWatching(const Request& request, const intercept::SlotSpace& space, uint64_t random,
                   uint32_t wanted);

// Watches also what the slots of the objects from `first_object` on lead to.
void WatchMore(const Request& request, const intercept::SlotSpace& space, uint32_t first_object);

// A watched function was called. Returns the pick that it is; kNoPick if it is none.
uint32_t OnSighting(const Request& request, uint32_t thunk);

// Gives back the slots of all that were not called.
void StopWatching();

// Forgets what is in objects that dlopen brought. They are still loaded, or unloaded unnoticed.
void LeaveWatchedDynamicObjects();

}  // namespace fieldcost::preload
