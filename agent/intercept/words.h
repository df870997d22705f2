#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Words of a program's data that hold addresses of functions: variables and tables through which a
// library calls malloc, read or write. The loader fills them in once, and the program may store
// something else into those that stay writable.

// Words of one variable that are looked at in a program's copy of it: more is no table.
inline constexpr uint64_t kMaxCopiedWords = 512;

// Calls visit(relocation, word) for every aligned word of the object's data that relocations of
// this type fill in: with the address of a symbol (kAddressWord), or with a library's variable, of
// which the program has a copy (kVariableCopy).
template <typename Visitor>
void ForEachWordOf(const ElfObject& object, uint32_t type, Visitor visit) {
  for (uint32_t i = object.relative_count; i < object.relocation_count; ++i) {
    const Elf64_Rela& relocation = object.relocations[i];
    if (ELF64_R_TYPE(relocation.r_info) != type) continue;
    const uint64_t begin = object.base + relocation.r_offset;
    if (begin % sizeof(uint64_t) != 0) continue;
    uint64_t words = 1;
    if (type == kVariableCopy) words = SymbolOf(object, relocation).st_size / sizeof(uint64_t);
    if (words > kMaxCopiedWords) words = kMaxCopiedWords;
    for (uint64_t word = 0; word < words; ++word) {
      visit(relocation, reinterpret_cast<uint64_t*>(begin) + word);
    }
  }
}

}  // namespace fieldcost::intercept
