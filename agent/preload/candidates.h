#pragma once

#include <stdint.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/slots.h"
#include "agent/preload/preload_policy.h"

namespace fieldcost::preload {

// An API that may be picked or has been picked.
struct Candidate : intercept::Function {
  uint32_t weight;  // 1..kFullWeight; 0: not looked up yet
};

struct Picks {
  Candidate candidates[shm::kMaxPicks];
  uint32_t count;
  bool left_out;  // set by PickByName: there was no room for all matches
};

// Resolves a slot to a candidate. Returns false if it leads to the program itself or to nothing
// that may be picked.
bool MakeCandidate(const intercept::SlotSpace& space, const intercept::ElfObject& importer,
                   const Elf64_Rela& relocation, const uint64_t* slot, Candidate* candidate);

// Returns whether the policy allows random picks from the candidate's library.
bool IsOfAllowedModule(const RunRequest& request, const Candidate& candidate);

// Returns the candidate's weight in random picks; 0 if it is never picked. C names that no
// installed header or manual page documents have a quarter of the policy's weight, and names that C
// reserves for the implementation (they begin with an underscore) an eighth of that. A weight
// smaller than the divisor is not reduced. Documented names have the full weight, and so have C++
// names, which begin with "_Z". If the policy has no documented names, only reserved names are
// reduced. REQUIRES: IsOfAllowedModule.
uint32_t WeightOf(const RunRequest& request, const Candidate& candidate);

// Picks up to `wanted` different APIs at random from the space's slots, whether called or not, for
// a run whose results stay with its user. `random` seeds the draws.
void PickAtRandom(const RunRequest& request, const intercept::SlotSpace& space, uint64_t random,
                  uint32_t wanted, Picks* picks);

// Finds the called slots (agent/intercept/called_slots.h) of functions that the forced pick names,
// in the objects from `first_object` on. Call it before PickByName and PatchPicks for those
// objects.
void FindCalledSlotsByName(const RunRequest& request, const intercept::SlotSpace& space,
                           uint32_t first_object);

// Picks every API (at most kMaxPicks) whose "module!symbol" matches the forced pick and that a slot
// of the objects from `first_object` on leads to, in any library, even one without a soname.
void PickByName(const RunRequest& request, const intercept::SlotSpace& space, uint32_t first_object,
                Picks* picks);

}  // namespace fieldcost::preload
