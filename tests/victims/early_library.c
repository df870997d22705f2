// Its constructor loads another library, before the constructors of preloaded libraries run.

#include <dlfcn.h>
#include <stdlib.h>

static void* brought;

__attribute__((constructor)) static void Bring(void) {
  if (getenv("VICTIM_BRINGS_EARLY") != NULL) brought = dlopen("libvictim_namesake_1.so", RTLD_LAZY);
}

__attribute__((visibility("default"))) void* early_brought(void) { return brought; }
