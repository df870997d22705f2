#include "tests/victims/long_named_library.h"

void long_named_short(void) {}
void long_named_long(void) {}
