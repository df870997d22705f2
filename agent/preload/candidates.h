#pragma once

#include <stdint.h>

#include "agent/preload/elf_object.h"
#include "agent/preload/policy.h"

namespace fieldcost::preload {

// An API that was picked.
struct Candidate {
  const ElfObject* provider;
  const char* symbol;
  const char* version;
  uint64_t target;
  uint64_t code_begin;  // 0..0 if the function's extent is not known (IFUNC)
  uint64_t code_end;
};

struct Picks {
  Candidate candidates[shm::kMaxPicks];
  uint32_t count;
  uint64_t candidate_count;  // JUMP_SLOT relocations in all objects
};

// False for functions that no thunk may stand in front of: they return twice, never, or look at
// who called them.
bool MayBePicked(const char* symbol);

// Picks the policy's number of different APIs at random from the program's JUMP_SLOT relocations.
// `random` seeds the draws.
void PickAtRandom(const Request& request, const ElfObject* objects, uint32_t object_count,
                  uint64_t random, Picks* picks);

// Picks every API whose "soname!symbol" matches the forced pick (at most kMaxPicks).
void PickByName(const Request& request, const ElfObject* objects, uint32_t object_count,
                Picks* picks);

}  // namespace fieldcost::preload
