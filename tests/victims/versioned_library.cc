// One function in two versions that behave differently, as some in libc do.

#include "tests/victims/victim_library.h"

VICTIM_API int versioned_value_1() { return 1; }
VICTIM_API int versioned_value_2() { return 2; }
__asm__(".symver versioned_value_1, versioned_value@VERSION_1, remove");
__asm__(".symver versioned_value_2, versioned_value@@VERSION_2, remove");
