#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::preload {

// Calls visit(object, relocation, slot) for every JUMP_SLOT relocation of an object (and, with
// `data_too`, every GLOB_DAT), until it returns false.
template <typename Visitor>
bool ForEachSlotOf(const ElfObject& object, bool data_too, Visitor visit) {
  const auto each = [&object, &visit](const Elf64_Rela* relocations, uint32_t count,
                                      uint32_t type) {
    for (uint32_t i = 0; i < count; ++i) {
      const Elf64_Rela& relocation = relocations[i];
      if (ELF64_R_TYPE(relocation.r_info) != type) continue;
      auto* const slot = reinterpret_cast<uint64_t*>(object.base + relocation.r_offset);
      if (!visit(object, relocation, slot)) return false;
    }
    return true;
  };
  return each(object.plt, object.plt_count, kCallSlot) &&
         (!data_too || each(object.relocations, object.relocation_count, kDataSlot));
}

template <typename Visitor>
void ForEachSlot(const ElfObject* objects, uint32_t object_count, bool data_too, Visitor visit) {
  for (uint32_t o = 0; o < object_count; ++o) {
    if (!ForEachSlotOf(objects[o], data_too, visit)) return;
  }
}

// The function a slot leads to: its value if it is bound, else what the loader would bind it to:
// the first definition in search order. 0 if there is none. An unbound slot that leads to an IFUNC
// is resolved by the loader, which takes its locks: only if it may be asked.
uint64_t ResolveSlot(const ElfObject* objects, uint32_t object_count, const ElfObject& object,
                     const Elf64_Rela& relocation, const uint64_t* slot, bool may_ask_loader);

// Stores `value` into a slot, lifting and restoring the read-only protection of its page if it has
// one. False, and nothing changed, if the kernel refuses.
bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value);

// What a pick's slots may hold.
uint64_t StubOf(uint32_t pick);
uint64_t SamplingStubOf(uint32_t pick);

// Slots that lead to picks are remembered, at most this many; further ones stay as they are.
inline constexpr uint32_t kMaxPatchedSlots = 16384;
struct PatchedSlot {
  uint64_t* slot;
  uint32_t pick;
  bool read_only;
  bool is_dynamic;  // in an object that may be unloaded
};

// Makes a slot lead to the pick's stub, and remembers it. REQUIRES: the patch lock.
bool PatchSlot(const ElfObject& object, uint64_t* slot, uint32_t pick);

// Makes all of a pick's slots lead to `value`; with `forget` they are the pick's no more. A slot
// that somebody else has changed since is left alone. REQUIRES: the patch lock.
void RetargetPick(uint32_t pick, uint64_t value, bool forget);

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

}  // namespace fieldcost::preload
