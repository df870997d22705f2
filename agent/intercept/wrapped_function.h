#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// A wrapped function: its name, the wrapper that its slots will lead to, and the variable in which
// the wrapper finds the real function. See wrappers.h.
struct WrappedFunction {
  const char* name;
  uint64_t wrapper;
  uint64_t* real;
};

}  // namespace fieldcost::intercept
