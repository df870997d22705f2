#include "agent/intercept/mapped_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {
namespace {

bool WriteAt(int64_t fd, const void* bytes, uint64_t size, uint64_t offset) {
  return SystemCall(SYS_pwrite64, static_cast<uint64_t>(fd), reinterpret_cast<uint64_t>(bytes),
                    size, offset) == static_cast<int64_t>(size);
}

// The lock lasts as long as the open file description: as long as the file is mapped.
bool Lock(int64_t fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return SystemCall(SYS_fcntl, static_cast<uint64_t>(fd), F_OFD_SETLK,
                    reinterpret_cast<uint64_t>(&lock)) == 0;
}

// Writes by system call, which costs the host a few microseconds; the first store to a new page
// through a mapping costs hundreds in the file system (measured).
bool Write(int64_t fd, const Beginning& beginning, uint64_t size) {
  const uint32_t complete = 1;
  return Lock(fd) && SystemCall(SYS_ftruncate, static_cast<uint64_t>(fd), size) == 0 &&
         WriteAt(fd, beginning.bytes, beginning.size, 0) &&
         WriteAt(fd, &complete, sizeof complete, beginning.complete_offset);
}

// Maps the whole file; children of fork() do not inherit the mapping. Returns null on failure.
void* Map(int64_t fd, uint64_t size) {
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            static_cast<int>(fd), 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (madvise(mapped, size, MADV_DONTFORK) == 0) return mapped;
  munmap(mapped, size);
  return nullptr;
}

}  // namespace

void* MapPrivate(uint64_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

bool CannotFault(int64_t fd) {
  struct statfs found;
  return SystemCall(SYS_fstatfs, static_cast<uint64_t>(fd), reinterpret_cast<uint64_t>(&found)) ==
             0 &&
         (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

bool Populate(uint64_t begin, uint64_t bytes) {
  constexpr int kMadvPopulateWrite = 23;  // Linux 5.14
  const uint64_t first = PageOf(begin);
  const uint64_t end = PageEndAfter(begin + bytes);
  return SystemCall(SYS_madvise, first, end - first, kMadvPopulateWrite) == 0;
}

void* MakeMappedFile(int64_t directory, const char* name, const Beginning& beginning,
                     uint64_t size) {
  const int64_t fd =
      SystemCall(SYS_openat, static_cast<uint64_t>(directory), reinterpret_cast<uint64_t>(name),
                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* const mapped = Write(fd, beginning, size) ? Map(fd, size) : nullptr;
  if (mapped == nullptr) {
    SystemCall(SYS_unlinkat, static_cast<uint64_t>(directory), reinterpret_cast<uint64_t>(name), 0);
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return mapped;
}

}  // namespace fieldcost::intercept
