#include "agent/intercept/map_wrappers.h"

#include <sys/mman.h>
#include <sys/types.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/hooks.h"
#include "agent/intercept/tables.h"
#include "common/shm/metric.h"

namespace fieldcost::intercept {
namespace {

uint64_t real_mmap;

bool IsOfLibrary(const void* caller) {
  const ElfObject& program = tables->objects[0];
  return !Contains(program, reinterpret_cast<uint64_t>(caller));
}

uint32_t ReasonsOf(int protection, int flags) {
  const bool is_written = (flags & MAP_TYPE) != MAP_PRIVATE && (protection & PROT_WRITE) != 0;
  return is_written ? shm::kReadMapped | shm::kWrittenMapped : uint32_t{shm::kReadMapped};
}

void* Map(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  const auto real = reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(real_mmap);
  void* const mapped = real(address, size, protection, flags, fd, offset);
  if (mapped == MAP_FAILED || fd < 0 || (flags & MAP_ANONYMOUS) != 0) {
    return mapped;
  }
  if (IsOfLibrary(__builtin_return_address(0))) OnFileMapped(fd, ReasonsOf(protection, flags));
  return mapped;
}

}  // namespace

const WrappedFunction kMapFunctions[kMapFunctionCount] = {
    {"mmap", reinterpret_cast<uint64_t>(&Map), &real_mmap},
    {"mmap64", reinterpret_cast<uint64_t>(&Map), &real_mmap},
};

}  // namespace fieldcost::intercept
