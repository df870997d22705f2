#pragma once

#include <stdint.h>

#include "agent/intercept/called_slots.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// The slots of loaded objects, and what may be done to find out where they lead.
struct SlotSpace {
  const ElfObject* objects;
  uint32_t object_count;
  bool data_too;        // GLOB_DAT slots too
  bool may_ask_loader;  // only in the constructor
};

// Calls visit(object, relocation, slot) for every JUMP_SLOT relocation of an object and every
// GLOB_DAT that is a called slot (with `data_too`, every GLOB_DAT), until it returns false.
template <typename Visitor>
bool ForEachSlotOf(const ElfObject& object, bool data_too, Visitor visit) {
  SlotCursor cursor(object, data_too);
  while (const Elf64_Rela* const relocation = cursor.Next()) {
    if (!visit(object, *relocation, SlotOf(object, *relocation))) return false;
  }
  return true;
}

// The same for a space's objects from `first_object` on.
template <typename Visitor>
void ForEachSlot(const SlotSpace& space, uint32_t first_object, bool data_too, Visitor visit) {
  for (uint32_t o = first_object; o < space.object_count; ++o) {
    if (!ForEachSlotOf(space.objects[o], data_too, visit)) return;
  }
}

// The function a slot leads to: its value if it is bound, else what the loader would bind it to:
// the first definition in search order. 0 if there is none. An unbound slot that leads to an IFUNC
// is resolved by the loader, which takes its locks: only if it may be asked.
uint64_t ResolveSlot(const SlotSpace& space, const ElfObject& importer,
                     const Elf64_Rela& relocation, const uint64_t* slot);

// Stores `value` into a slot, lifting and restoring the read-only protection of its page if it has
// one. False, and nothing changed, if the kernel refuses.
bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value);

// Stores `value` into an aligned word of the object's data that holds `expected`, which other
// threads may change at the same time. False, and nothing changed, if it holds something else or
// cannot be written to.
bool ReplaceWord(const ElfObject& object, uint64_t* word, uint64_t expected, uint64_t value);

// While this lives, the first write to a read-only slot of that object lifts the protection of all
// of them, and the end restores it. REQUIRES: the patch lock, or the constructor; no other one
// lives.
class LiftedProtection {
 public:
  explicit LiftedProtection(const ElfObject& object);
  ~LiftedProtection();
  LiftedProtection(const LiftedProtection&) = delete;
  LiftedProtection& operator=(const LiftedProtection&) = delete;
};

// Slots that lead to stubs are remembered, at most this many; further ones stay as they are.
inline constexpr uint32_t kMaxPatchedSlots = FIELDCOST_MAX_PATCHED_SLOTS;
struct PatchedSlot {
  uint64_t* slot;
  uint32_t thunk;
  bool read_only;
  bool is_dynamic;  // in an object that may be unloaded
};

// Makes a slot lead to `stub`, which is one of this thunk's, and remembers it. False, and nothing
// changed, if there is no room or the kernel refuses. REQUIRES: the patch lock.
bool PatchSlot(const ElfObject& object, uint64_t* slot, uint32_t thunk, uint64_t stub);

// Makes the slots of a space's objects, from `first_object` on, lead to StubOf(thunk_for(object,
// relocation, slot)); where that is kNoThunk, they stay as they are. REQUIRES: the patch lock, or
// the constructor.
inline constexpr uint32_t kNoThunk = ~uint32_t{0};
template <typename ThunkFor>
void PatchSlots(const SlotSpace& space, uint32_t first_object, bool data_too, ThunkFor thunk_for) {
  const auto patch = [&thunk_for](const ElfObject& importer, const Elf64_Rela& relocation,
                                  uint64_t* slot) {
    const uint32_t thunk = thunk_for(importer, relocation, slot);
    if (thunk == kNoThunk) return true;
    const uint64_t stub = StubOf(thunk);
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) != stub) PatchSlot(importer, slot, thunk, stub);
    return true;
  };
  for (uint32_t i = first_object; i < space.object_count; ++i) {
    const LiftedProtection lifted(space.objects[i]);
    ForEachSlotOf(space.objects[i], data_too, patch);
  }
}

// Makes all slots that lead to this thunk's stubs lead to `value`; with `forget` they are no
// longer remembered. A slot that somebody else has changed since is left alone. REQUIRES: the patch
// lock.
void RetargetThunk(uint32_t thunk, uint64_t value, bool forget);

// Makes all slots that lead to the stubs of thunk `from` lead to `stub`, which is one of thunk
// `to`, and be remembered as that thunk's. Returns how many. REQUIRES: as RetargetThunk.
uint32_t HandOverThunk(uint32_t from, uint32_t to, uint64_t stub);

// Gives back the slots in objects that dlopen brought, as if they had not been patched. REQUIRES:
// the patch lock; they are still loaded.
void GiveBackDynamicSlots();

// Held while slots are changed: by one thread, which is not interrupted by signals meanwhile and
// finds its errno unchanged. Nobody waits for it but who is about to unload what the holder may be
// looking at; the holder waits for nobody.
class PatchLock {
 public:
  enum class Patience { kNone, kWait };
  explicit PatchLock(Patience patience = Patience::kNone);
  ~PatchLock();
  PatchLock(const PatchLock&) = delete;
  PatchLock& operator=(const PatchLock&) = delete;
  bool held() const { return held_; }

 private:
  uint64_t signals_;  // blocked before
  int errno_;
  bool held_;
};

}  // namespace fieldcost::intercept
