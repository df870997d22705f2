#include "tests/victims/nestings_library.h"

namespace {

constexpr unsigned kMostDepth = 4096;

thread_local unsigned stack[kMostDepth];
thread_local unsigned depth;
uint64_t calls[kNestFunctions];
bool pairs[kNestFunctions][kNestFunctions];

// Leaves its function on every exit except jumps.
class OnStack {
 public:
  explicit OnStack(unsigned function) {
    __atomic_fetch_add(&calls[function], 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < depth; ++i) {
      __atomic_store_n(&pairs[stack[i]][function], true, __ATOMIC_RELAXED);
    }
    stack[depth++] = function;
  }
  ~OnStack() { --depth; }
  OnStack(const OnStack&) = delete;
  OnStack& operator=(const OnStack&) = delete;
};

}  // namespace

#define NEST_DEFINE(k)                                      \
  VICTIM_API void nest_##k(NestBody body, void* argument) { \
    const OnStack on_stack(k);                              \
    body(argument);                                         \
  }
NEST_FUNCTIONS(NEST_DEFINE)
#undef NEST_DEFINE

#define NEST_DEFINE(k, next) \
  VICTIM_API void nest_tail_##k(int value) { return nest_tail_##next(value); }
NEST_TAILS(NEST_DEFINE)
#undef NEST_DEFINE
VICTIM_API void nest_tail_11(int value) {
  if (value != 0) throw value;
}

VICTIM_API int nest_one_name(int value) { return value + 1; }
VICTIM_API int nest_other_name(int value) __attribute__((alias("nest_one_name")));

namespace nest {

unsigned Depth() { return depth; }
void SetDepth(unsigned value) { depth = value; }
uint64_t Calls(unsigned function) { return __atomic_load_n(&calls[function], __ATOMIC_RELAXED); }
bool HasPair(unsigned outer, unsigned inner) {
  return __atomic_load_n(&pairs[outer][inner], __ATOMIC_RELAXED);
}

}  // namespace nest
