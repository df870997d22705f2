#include "agent/preload/slots.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/preload/x86_64/machine.h"

namespace fieldcost::preload {

uint64_t ResolveSlot(const ElfObject& object, const Elf64_Rela& relocation, const uint64_t* slot) {
  const uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
  // An unbound slot leads back into its own object's PLT.
  if (value != 0 && !Contains(object, value)) return value;
  const char* const name = NameOf(object, relocation);
  const char* const version = NeededVersion(object, relocation);
  const auto find = [name, version](void* where) {
    return reinterpret_cast<uint64_t>(*version == '\0' ? dlsym(where, name)
                                                       : dlvsym(where, name, version));
  };
  const uint64_t found = find(RTLD_DEFAULT);
  // An importer that seems to hold the function itself holds its PLT entry only: see IsDefinition.
  const bool own_plt =
      Contains(object, found) && SymbolOf(object, relocation).st_shndx == SHN_UNDEF;
  return own_plt ? find(RTLD_NEXT) : found;
}

bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value) {
  const auto address = reinterpret_cast<uint64_t>(slot);
  const uint64_t page = address & ~uint64_t{4095};
  const bool read_only = address >= object.relro_begin && address < object.relro_end;
  if (read_only && SystemCall(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) SystemCall(SYS_mprotect, page, 4096, PROT_READ);
  return true;
}

}  // namespace fieldcost::preload
