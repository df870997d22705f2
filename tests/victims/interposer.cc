// A library preloaded in addition to ours: it precedes functions of libc and of the victim library,
// counts calls and forwards them. Prints the number at the end.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/victims/victim_library.h"

namespace {

unsigned long noops;
unsigned long texts;
unsigned long allocations;

template <typename Function>
Function* Next(Function*& next, const char* name) {
  if (next == nullptr) next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return next;
}

__attribute__((destructor)) void Say() {
  fprintf(stderr, "interposed: %lu noops, %lu texts, %lu allocations\n", noops, texts, allocations);
}

}  // namespace

VICTIM_API void victim_noop() {
  static void (*next)();
  __atomic_fetch_add(&noops, 1, __ATOMIC_RELAXED);
  Next(next, "victim_noop")();
}
VICTIM_API void* victim_allocate(uint64_t bytes) {
  static void* (*next)(uint64_t);
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return Next(next, "victim_allocate")(bytes);
}
VICTIM_API int puts(const char* text) {
  static int (*next)(const char*);
  __atomic_fetch_add(&texts, 1, __ATOMIC_RELAXED);
  return Next(next, "puts")(text);
}
