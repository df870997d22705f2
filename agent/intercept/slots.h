#pragma once

#include <stdint.h>

#include "agent/intercept/called_slots.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// The slots of loaded objects, and the permitted ways to resolve them.
struct SlotSpace {
  const ElfObject* objects;
  uint32_t object_count;
  bool data_too;        // includes GLOB_DAT slots
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

// Returns the function that a slot leads to: its value if it is bound, else the definition that the
// loader would bind it to, the first in search order. Returns 0 if none. An unbound slot of an
// IFUNC is resolved by the loader, which takes its locks, so only if `may_ask_loader`.
uint64_t ResolveSlot(const SlotSpace& space, const ElfObject& importer,
                     const Elf64_Rela& relocation, const uint64_t* slot);

// Stores `value` into a slot, lifting and restoring the read-only protection of its page if needed.
// Returns false, with nothing changed, if the kernel refuses.
bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value);

// Stores `value` into an aligned word of the object's data that holds `expected`; other threads may
// change the word concurrently. Returns false, with nothing changed, if it holds something else or
// cannot be written to.
bool ReplaceWord(const ElfObject& object, uint64_t* word, uint64_t expected, uint64_t value);

// During its lifetime, the first write to a read-only slot of that object lifts the protection of
// all of them; the destructor restores it. REQUIRES: the patch lock or the constructor; no other
// instance exists.
class LiftedProtection {
 public:
  explicit LiftedProtection(const ElfObject& object);
  ~LiftedProtection();
  LiftedProtection(const LiftedProtection&) = delete;
  LiftedProtection& operator=(const LiftedProtection&) = delete;
};

// Maximum number of slots that lead to stubs; further ones are not patched.
inline constexpr uint32_t kMaxPatchedSlots = FIELDCOST_MAX_PATCHED_SLOTS;
struct PatchedSlot {
  uint64_t* slot;
  uint32_t thunk;
  bool read_only;
  bool is_dynamic;  // in an object that may be unloaded
};

// Redirects a slot to `stub`, which belongs to this thunk, and records it. Returns false, with
// nothing changed, if there is no room or the kernel refuses. REQUIRES: the patch lock.
bool PatchSlot(const ElfObject& object, uint64_t* slot, uint32_t thunk, uint64_t stub);

// Redirects the slots of a space's objects, from `first_object` on, to StubOf(thunk_for(object,
// relocation, slot)), except where thunk_for returns kNoThunk. REQUIRES: the patch lock or the
// constructor.
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

// Returns the function that the thunk of this index intercepts now, or that function's wrapper.
uint64_t TargetOfThunk(uint32_t thunk);

// Redirects all slots that lead to this thunk's stubs to `value`; with `forget`, also drops their
// records. A slot that other code has changed in the meantime is left alone. REQUIRES: the patch
// lock.
void RetargetThunk(uint32_t thunk, uint64_t value, bool forget);

// Redirects all slots that lead to the stubs of thunk `from` to `stub`, which belongs to thunk
// `to`, and records them as that thunk's. Returns how many. REQUIRES: as for RetargetThunk.
uint32_t HandOverThunk(uint32_t from, uint32_t to, uint64_t stub);

// Restores the slots in objects loaded by dlopen, as if they had never been patched. REQUIRES: the
// patch lock; the objects are still loaded.
void GiveBackDynamicSlots();

// Held by the one thread that changes slots; blocks its signals and preserves its errno. The holder
// never waits. A thread waits for this lock only if it is about to unload an object that the holder
// may be reading.
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
