#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Words of a program's data that hold addresses of functions: variables and tables through which a
// library calls malloc, read or write. The loader fills them in once, and the program may store
// something else into those that stay writable.

// Maximum number of words read from the program's copy of a variable: larger ones are not tables.
inline constexpr uint64_t kMaxCopiedWords = 512;

// Calls visit(relocation, word) for every aligned word of the object's data that relocations of
// this type fill in: with the address of a symbol (kAddressWord), or with the contents of a
// library's variable that the program has a copy of (kVariableCopy).
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

// Maximum number of bytes that are scanned in each writable segment for words that constructors
// have filled in, which have no relocation.
inline constexpr uint64_t kMaxFilledBytes = uint64_t{256} << 10;

// Calls visit(word, value) for every aligned word of the object's writable data. Skips memory that
// has been protected or unmapped since.
template <typename Visitor>
void ForEachFilledWord(const ElfObject& object, Visitor visit) {
  constexpr uint64_t kWord = sizeof(uint64_t);
  uint64_t values[512];
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const uint64_t begin = object.base + segment.p_vaddr;
    uint64_t end = begin + segment.p_memsz;
    uint64_t at = begin;
    if (object.relro_end > begin && object.relro_end <= end) at = object.relro_end;
    at = (at + kWord - 1) & ~(kWord - 1);
    if (end > at + kMaxFilledBytes) end = at + kMaxFilledBytes;
    while (at + kWord <= end) {
      const uint64_t size = end - at < sizeof values ? end - at : sizeof values;
      const size_t words = ReadOwnMemory(reinterpret_cast<const void*>(at), values, size) / kWord;
      for (size_t word = 0; word < words; ++word) {
        visit(reinterpret_cast<uint64_t*>(at) + word, values[word]);
      }
      at += size;
    }
  }
}

}  // namespace fieldcost::intercept
