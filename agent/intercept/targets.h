#pragma once

#include <stdint.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {

// Targets of libraries that intercept many functions. They have the same numbers as their thunks.

// A hash table from hashes to targets, with open addressing. Lives in zeroed memory.
struct TargetTable {
  static constexpr uint32_t kPlaces = 4 * kThunkCount;
  uint16_t places[kPlaces];  // number of the target + 1

  // Returns the place of the target with that hash for which is_it(number) is true; if there is
  // none, the place to store it.
  template <typename Predicate>
  uint16_t* Find(uint64_t hash, Predicate is_it) {
    uint64_t at = hash % kPlaces;
    while (places[at] != 0 && !is_it(places[at] - 1U)) at = (at + 1) % kPlaces;
    return &places[at];
  }
  // The same for targets that store their hash.
  template <typename Target>
  uint16_t* FindIn(const Target* targets, uint64_t hash) {
    return Find(hash, [targets, hash](uint32_t number) { return targets[number].hash == hash; });
  }
};

// Patches those slots, of the kinds enabled in the space, that lead to functions which a thunk may
// intercept: PatchSlots with thunk_for(function). The function's `module` is the program's name if
// the program itself provides it.
template <typename ThunkFor>
void PatchFunctions(const SlotSpace& space, uint32_t first_object, ThunkFor thunk_for) {
  PatchSlots(space, first_object, space.data_too,
             [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
               Function function;
               if (!FollowSlot(space, importer, relocation, slot, &function)) return kNoThunk;
               if (*function.module == '\0') function.module = ProgramName();
               return thunk_for(function);
             });
}

// Finds called slots (called_slots.h) of functions that the user asked for, in the objects from
// `first_object` on. is_asked(function) selects the functions, with `module` as above.
template <typename IsAsked>
void FindCalledSlotsOf(const SlotSpace& space, uint32_t first_object, IsAsked is_asked) {
  if (space.data_too) return;  // every slot is patched anyway
  FindCalledSlots(
      space.objects, first_object, space.object_count,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        Function function;
        if (!FollowSlot(space, importer, relocation, slot, &function)) return false;
        if (*function.module == '\0') function.module = ProgramName();
        return is_asked(function);
      });
}

}  // namespace fieldcost::intercept
