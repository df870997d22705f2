#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// Detects, by their loaded objects, programs that must be left alone. REQUIRES: ListObjectsAtStart.

// Returns whether a sanitizer's run-time library is loaded: it intercepts the same functions.
bool HasSanitizer();

// Returns whether a conservative garbage collector is among the objects from `first_object` on or,
// with 0, whether the program is known to contain one.
bool HasCollector(uint32_t first_object);

}  // namespace fieldcost::intercept
