// Hidden versions of libc's simplest functions. They touch neither vector registers nor errno, so
// they may be called inside calls of the program, and the loader has fewer symbols to look up in
// each program. They have libc's names because the compiler itself generates calls of some of them.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/x86_64/machine.h"

using fieldcost::intercept::SystemCall;

#define FIELDCOST_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

FIELDCOST_HIDDEN void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  fieldcost::intercept::CopyBytes(to, from, bytes);
  return to;
}

FIELDCOST_HIDDEN void* memset(void* to, int value, size_t bytes) {
  fieldcost::intercept::FillBytes(to, static_cast<uint8_t>(value), bytes);
  return to;
}

FIELDCOST_HIDDEN int memcmp(const void* left, const void* right, size_t bytes) {
  const auto* const a = static_cast<const unsigned char*>(left);
  const auto* const b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

FIELDCOST_HIDDEN size_t strlen(const char* text) {
  size_t bytes = 0;
  while (text[bytes] != '\0') ++bytes;
  return bytes;
}

FIELDCOST_HIDDEN int strncmp(const char* left, const char* right, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const auto a = static_cast<unsigned char>(left[i]);
    const auto b = static_cast<unsigned char>(right[i]);
    if (a != b) return a < b ? -1 : 1;
    if (a == 0) return 0;
  }
  return 0;
}

FIELDCOST_HIDDEN int strcmp(const char* left, const char* right) {
  return strncmp(left, right, ~size_t{0});
}

FIELDCOST_HIDDEN void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                            off_t offset) {
  const int64_t mapped = SystemCall(SYS_mmap, reinterpret_cast<uint64_t>(address), bytes,
                                    static_cast<uint64_t>(protection), static_cast<uint64_t>(flags),
                                    static_cast<uint64_t>(fd), static_cast<uint64_t>(offset));
  return mapped < 0 && mapped > -4096 ? MAP_FAILED
                                      : reinterpret_cast<void*>(static_cast<uint64_t>(mapped));
}

FIELDCOST_HIDDEN int munmap(void* address, size_t bytes) {
  return SystemCall(SYS_munmap, reinterpret_cast<uint64_t>(address), bytes) == 0 ? 0 : -1;
}

FIELDCOST_HIDDEN int madvise(void* address, size_t bytes, int advice) {
  return SystemCall(SYS_madvise, reinterpret_cast<uint64_t>(address), bytes,
                    static_cast<uint64_t>(advice)) == 0
             ? 0
             : -1;
}

FIELDCOST_HIDDEN int fstat(int fd, struct stat* found) {
  return SystemCall(SYS_fstat, static_cast<uint64_t>(fd), reinterpret_cast<uint64_t>(found)) == 0
             ? 0
             : -1;
}

}  // extern "C"
