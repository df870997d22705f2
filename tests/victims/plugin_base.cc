// A library that the plugin is linked with: loaded and unloaded with it.

#include <stdlib.h>

#include "tests/victims/victim_library.h"

VICTIM_API int64_t plugin_base(int64_t value) {
  free(victim_allocate(static_cast<uint64_t>(value)));
  return victim_tail(value);
}
