#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// Programs that must be left alone, told by what is loaded. REQUIRE: ListObjectsAtStart.

// The run-time library of a sanitizer: it stands before the same functions.
bool HasSanitizer();

// A conservative garbage collector, among the objects from `first_object` on; or, with 0, the
// program is known to have one in it.
bool HasCollector(uint32_t first_object);

// Whether one of the objects from `first_object` on copies stacks away and back, so that frames
// that seem gone return.
bool HasStackCopier(uint32_t first_object);

}  // namespace fieldcost::intercept
