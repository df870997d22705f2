#pragma once

// Twelve functions that call back and track their own stack exactly: a map must equal the output of
// nestings.cc.

#include <stdint.h>

#include "tests/victims/victim_library.h"

inline constexpr unsigned kNestFunctions = 12;

using NestBody = void (*)(void*);

// nest_0 to nest_11. Their calls are recorded before the body runs.
#define NEST_FUNCTIONS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define NEST_DECLARE(k) VICTIM_API void nest_##k(NestBody body, void* argument);
NEST_FUNCTIONS(NEST_DECLARE)
#undef NEST_DECLARE

// Two names of one function outside of the twelve.
VICTIM_API int nest_one_name(int value);
VICTIM_API int nest_other_name(int value);

// Each jumps to the next, and the last throws: none of their frames is left on the stack. There are
// more of them than an unwinder can distinguish by the bytes of one slot.
#define NEST_TAILS(X) \
  X(1, 2) X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8) X(8, 9) X(9, 10) X(10, 11)
#define NEST_DECLARE(k, next) VICTIM_API void nest_tail_##k(int value);
NEST_TAILS(NEST_DECLARE)
#undef NEST_DECLARE
VICTIM_API void nest_tail_11(int value);

// Their records. Code that jumps must reset their depth on this thread's stack.
namespace nest {

unsigned Depth();
void SetDepth(unsigned depth);
uint64_t Calls(unsigned function);
bool HasPair(unsigned outer, unsigned inner);

}  // namespace nest
