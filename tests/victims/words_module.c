// Loaded by dlopen: allocates through its own table.

#include <stdlib.h>

static void* (*variable)(size_t) = malloc;
static void* (*const kConstant)(size_t) = malloc;
static void* (*const* volatile constant)(size_t) = &kConstant;

void module_allocate(void) {
  free(variable(600));
  free((*constant)(400));
}
