#pragma once

#include <stdint.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/slots.h"
#include "agent/preload/policy.h"

namespace fieldcost::preload {

// An API that was picked.
struct Candidate : intercept::Function {
  // Facts of the random pick that took it; see common/shm/selection.h.
  uint64_t candidate_count;
  uint32_t draws;
  uint32_t weight;
  uint32_t wanted;
  uint32_t order;
  uint32_t probe_weight;
};

// What a draw came to.
struct Drawn {
  Candidate candidate;
  uint32_t importer;  // index of the object whose slot was drawn
  uint32_t weight;    // 0: nothing that may be picked, and the others say nothing
};

struct Picks {
  Candidate candidates[shm::kMaxPicks];
  uint32_t count;
  bool left_out;  // of PickByName: more match than there is room for
};

// Picks up to `wanted` different APIs at random from the space's slots. `random` seeds the draws.
void PickAtRandom(const Request& request, const intercept::SlotSpace& space, uint64_t random,
                  uint32_t wanted, Picks* picks);

// Objects have come since a pick was drawn: draws again among all. If the importer is a new one,
// that API is to take the old pick's place; if not, the old pick stands for it, since it was drawn
// from those in the same way. So every API has the chance it would have had if all objects had been
// there at once. Without weight if no draw was taken.
Drawn PickAgain(const Request& request, const intercept::SlotSpace& space, uint64_t random);

// Finds the called slots (agent/intercept/called_slots.h), in the objects from `first_object` on,
// of functions that the forced pick names. For what follows in those objects: PickByName,
// PatchPicks.
void FindCalledSlotsByName(const Request& request, const intercept::SlotSpace& space,
                           uint32_t first_object);

// Picks every API whose "module!symbol" matches the forced pick (at most kMaxPicks) and that a slot
// of the objects from `first_object` on leads to, of any library, also of one without a soname.
void PickByName(const Request& request, const intercept::SlotSpace& space, uint32_t first_object,
                Picks* picks);

}  // namespace fieldcost::preload
