#pragma once

#include <stdint.h>

#include "agent/preload/elf_object.h"

namespace fieldcost::preload {

// Calls visit(object, relocation, slot) for every JUMP_SLOT relocation of every object (and, with
// `data_too`, every GLOB_DAT of a function), until it returns false.
template <typename Visitor>
void ForEachSlot(const ElfObject* objects, uint32_t object_count, bool data_too, Visitor visit) {
  for (uint32_t o = 0; o < object_count; ++o) {
    const ElfObject& object = objects[o];
    for (uint32_t i = 0; i < object.plt_count; ++i) {
      const Elf64_Rela& relocation = object.plt[i];
      if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) continue;
      if (!visit(object, relocation,
                 reinterpret_cast<uint64_t*>(object.base + relocation.r_offset)))
        return;
    }
    for (uint32_t i = 0; data_too && i < object.relocation_count; ++i) {
      const Elf64_Rela& relocation = object.relocations[i];
      if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_GLOB_DAT) continue;
      if (!visit(object, relocation,
                 reinterpret_cast<uint64_t*>(object.base + relocation.r_offset)))
        return;
    }
  }
}

// The function a slot leads to: its value if it is bound, else what the loader would bind it to.
// 0 if there is none.
uint64_t ResolveSlot(const ElfObject& object, const Elf64_Rela& relocation, const uint64_t* slot);

// Stores `value` into a slot, lifting and restoring the read-only protection of its page if it has
// one. False, and nothing changed, if the kernel refuses.
bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value);

}  // namespace fieldcost::preload
