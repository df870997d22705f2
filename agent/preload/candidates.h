#pragma once

#include <stdint.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/slots.h"
#include "agent/preload/policy.h"

namespace fieldcost::preload {

// An API that may be picked, or was.
struct Candidate : intercept::Function {
  uint32_t weight;  // 1..kFullWeight; 0: not looked up yet
};

struct Picks {
  Candidate candidates[shm::kMaxPicks];
  uint32_t count;
  bool left_out;  // of PickByName: more match than there is room for
};

// Follows a slot to a candidate. False if it leads to nothing that may be picked, or to the program
// itself.
bool MakeCandidate(const intercept::SlotSpace& space, const intercept::ElfObject& importer,
                   const Elf64_Rela& relocation, const uint64_t* slot, Candidate* candidate);

// Whether the policy lets APIs of its library be picked at random.
bool IsOfAllowedModule(const Request& request, const Candidate& candidate);

// How likely it is picked at random; 0 if never. Names that C reserves for the implementation
// (they begin with an underscore, and neither a header nor a manual page presents them to users)
// have an eighth of the policy's weight; this spares C++ names, which begin with "_Z". REQUIRES:
// IsOfAllowedModule.
uint32_t WeightOf(const Request& request, const Candidate& candidate);

// Picks up to `wanted` different APIs at random from the space's slots, called or not, for a run
// that only its user sees. `random` seeds the draws.
void PickAtRandom(const Request& request, const intercept::SlotSpace& space, uint64_t random,
                  uint32_t wanted, Picks* picks);

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
