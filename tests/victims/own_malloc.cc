// A program with its own allocator, like many large programs: all libraries in the process must
// keep using it, and no allocation may reach libc's.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/victims/victim_library.h"

namespace {

alignas(16) char arena[16 << 20];
size_t used;
size_t allocations;
size_t frees;
size_t foreign;  // freed, but not allocated here

size_t& SizeOf(void* block) { return *reinterpret_cast<size_t*>(static_cast<char*>(block) - 16); }

}  // namespace

extern "C" void* malloc(size_t size) {
  const size_t begin = __atomic_fetch_add(&used, (size + 31) & ~size_t{15}, __ATOMIC_RELAXED) + 16;
  if (begin + size > sizeof arena) return nullptr;
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  void* const made = arena + begin;
  SizeOf(made) = size;
  return made;
}
extern "C" void free(void* block) {
  if (block == nullptr) return;
  char* const at = static_cast<char*>(block);
  const bool ours = at >= arena && at < arena + sizeof arena;
  __atomic_fetch_add(ours ? &frees : &foreign, 1, __ATOMIC_RELAXED);
}
extern "C" void* calloc(size_t count, size_t size) { return malloc(count * size); }
extern "C" void* realloc(void* old, size_t size) {
  void* const made = malloc(size);
  if (made != nullptr && old != nullptr) {
    memcpy(made, old, SizeOf(old) < size ? SizeOf(old) : size);
    free(old);
  }
  return made;
}

int main() {
  for (int i = 0; i < 1000; ++i) {
    free(victim_allocate(static_cast<uint64_t>(i)));
    free(victim_allocate_below(100));
    free(strdup("a copy that libc makes"));
  }
  printf("%zu allocations, %zu frees, %zu foreign\n", allocations, frees, foreign);
  return 0;
}
