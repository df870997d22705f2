#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// A function that we stand in front of: its name, what its slots are to lead to, and where that
// finds the real one. See wrappers.h.
struct WrappedFunction {
  const char* name;
  uint64_t wrapper;
  uint64_t* real;
};

}  // namespace fieldcost::intercept
