#include "agent/intercept/describe_module.h"

namespace fieldcost::intercept {

uint64_t CodeOffsetOf(const ElfObject& object) {
  Elf64_Ehdr header;
  if (ReadOwnMemory(reinterpret_cast<const void*>(object.begin), &header, sizeof header) !=
          sizeof header ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return 0;
  }
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const uint64_t at = object.begin + header.e_phoff + uint64_t{i} * sizeof part;
    if (ReadOwnMemory(reinterpret_cast<const void*>(at), &part, sizeof part) != sizeof part) {
      return 0;
    }
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) return part.p_offset - part.p_vaddr;
  }
  return 0;
}

}  // namespace fieldcost::intercept
