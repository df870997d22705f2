#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/x86_64/machine.h"
#include "common/shm/x86_64/slot_uses.h"

namespace fieldcost::intercept {

// GLOB_DAT slots through which programs without a PLT (-fno-plt) call. The value of such a slot is
// also `&function`: it is replaced only where the object's code does nothing but call through it
// and no word of its data holds the function's address, so that no program sees a different
// address. Found by one search of an object's code (common/shm/x86_64/slot_uses.h), and only for
// functions that the user named. Takes no lock and allocates nothing. Everything here REQUIRES the
// patch lock or the constructor.

struct CalledSlot {
  const Elf64_Rela* relocation;
  uint64_t base;  // of its object
  bool is_dynamic;
};
inline constexpr uint32_t kMaxCalledSlots = 4096;  // further ones are not measured

// Working memory of a search, and its results. Part of Tables.
struct CalledSlotTables {
  static constexpr uint32_t kCodeBytes = 65536;  // searched at a time
  static constexpr uint32_t kSymbols = 65536;
  CalledSlot slots[kMaxCalledSlots];
  uint8_t uses[shm::kMaxSlotWords];  // all zero between searches, like `in_data`
  uint8_t in_data[kSymbols];         // not 0: data holds the address of a symbol with this place
  uint8_t code[kCodeBytes + shm::kBytesBeforeDisplacement + shm::kDisplacementBytes];
};

inline uint64_t* SlotOf(const ElfObject& object, const Elf64_Rela& relocation) {
  return reinterpret_cast<uint64_t*>(object.base + relocation.r_offset);
}

// One search in one object: Ask() registers slots, then Search() adds those that qualify to the
// list.
class SlotSearch {
 public:
  [[gnu::cold]] explicit SlotSearch(const ElfObject& object);
  [[gnu::cold]] ~SlotSearch();
  SlotSearch(const SlotSearch&) = delete;
  SlotSearch& operator=(const SlotSearch&) = delete;

  bool HasSlots() const { return range_.words != 0; }
  [[gnu::cold]] void Ask(const Elf64_Rela& relocation);
  [[gnu::cold]] void Search();

 private:
  // Used only once, so inlined: one function is smaller than five.
  [[gnu::always_inline]] inline uint8_t* UsesOf(
      const Elf64_Rela& relocation);  // null if it is beyond the range
  [[gnu::always_inline]] inline bool SearchCode();
  [[gnu::always_inline]] inline void NoteWordsOfData();
  [[gnu::always_inline]] inline void KeepCalledOnly();

  const ElfObject& object_;
  shm::SlotRange range_;
  bool is_any_asked_ = false;
};

// Searches the objects from `first_object` on for slots for which is_asked(object, relocation,
// slot) is true.
template <typename IsAsked>
void FindCalledSlots(const ElfObject* objects, uint32_t first_object, uint32_t object_count,
                     IsAsked is_asked) {
  for (uint32_t i = first_object; i < object_count; ++i) {
    const ElfObject& object = objects[i];
    SlotSearch search(object);
    if (!search.HasSlots()) continue;
    for (uint32_t r = object.relative_count; r < object.relocation_count; ++r) {
      const Elf64_Rela& relocation = object.relocations[r];
      if (ELF64_R_TYPE(relocation.r_info) != kDataSlot) continue;
      if (is_asked(object, relocation, SlotOf(object, relocation))) search.Ask(relocation);
    }
    search.Search();
  }
}

// Forgets called slots in objects loaded by dlopen.
void ForgetDynamicCalledSlots();

// Iterates over the relocations of an object's slots: its JUMP_SLOT relocations, then all GLOB_DAT
// ones (`data_too`) or only those of called slots.
class SlotCursor {
 public:
  SlotCursor(const ElfObject& object, bool data_too) : object_(object), data_too_(data_too) {}
  const Elf64_Rela* Next();  // null at the end

 private:
  const ElfObject& object_;
  const bool data_too_;
  bool is_past_plt_ = false;
  uint32_t next_ = 0;  // index into the PLT's relocations, or into those that follow
};

}  // namespace fieldcost::intercept
