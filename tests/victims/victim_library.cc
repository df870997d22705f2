#include "tests/victims/victim_library.h"

#include <stdarg.h>
#include <stdlib.h>

VICTIM_API void victim_noop() { __asm__ volatile(""); }
VICTIM_API __attribute__((alias("victim_noop"))) void victim_noop_too();

// victim_fresh_0 .. victim_fresh_255 do nothing: functions that were never called before.
__asm__(R"(
    .text
    .altmacro
    .macro fresh_function index
    .globl victim_fresh_\index
    .type victim_fresh_\index, @function
    .p2align 4
victim_fresh_\index:
    .cfi_startproc
    endbr64
    ret
    .cfi_endproc
    .size victim_fresh_\index, . - victim_fresh_\index
    .endm
    .set fresh_index, 0
    .rept 256
    fresh_function %fresh_index
    .set fresh_index, fresh_index + 1
    .endr
    .noaltmacro
)");

VICTIM_API void* victim_allocate(uint64_t bytes) { return malloc(bytes); }

__attribute__((noinline)) static void* AllocateElsewhere(uint64_t bytes) {
  void* const made = calloc(1, bytes);
  __asm__ volatile("" ::"r"(made) : "memory");
  return made;
}
VICTIM_API void* victim_allocate_below(uint64_t bytes) {
  void* const made = AllocateElsewhere(bytes);
  __asm__ volatile("" ::"r"(made) : "memory");
  return made;
}

VICTIM_API void victim_call_back(void (*function)(void*), void* argument) {
  function(argument);
  __asm__ volatile("");
}

VICTIM_API uint64_t victim_recurse(uint64_t depth) {
  const uint64_t below = depth == 0 ? 0 : victim_recurse_too(depth - 1);
  __asm__ volatile("");
  return below + depth;
}
VICTIM_API uint64_t victim_recurse_too(uint64_t depth) {
  const uint64_t below = depth == 0 ? 0 : victim_recurse(depth - 1);
  __asm__ volatile("");
  return below + depth;
}

VICTIM_API int64_t victim_tail(int64_t value) { return victim_tail_end(value * 3); }
VICTIM_API int64_t victim_tail_end(int64_t value) {
  __asm__ volatile("");
  return value + 1;
}

VICTIM_API void victim_throw(int value) { throw value; }
VICTIM_API void victim_rethrow(int value) {
  try {
    victim_throw(value);
  } catch (int) {
    throw;
  }
}

VICTIM_API void victim_spin(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; ++i) __asm__ volatile("");
}

VICTIM_API VictimBig victim_big(int64_t seed) {
  return {{seed, seed + 1, seed + 2, seed + 3, seed + 4}};
}
VICTIM_API VictimPair victim_pair(int64_t seed) { return {seed, -seed}; }
VICTIM_API VictimMixed victim_mixed(int64_t seed) { return {seed, static_cast<double>(seed) / 4}; }
VICTIM_API VictimReals victim_reals(double seed) { return {seed / 2, seed / 8}; }
VICTIM_API float victim_float(float seed) { return seed * 1.5F; }
VICTIM_API double victim_double(double seed) { return seed * 2.5; }
VICTIM_API long double victim_long_double(long double seed) { return seed / 3; }
VICTIM_API __attribute__((target("avx"))) __m256d victim_vector(__m256d seed) {
  return _mm256_add_pd(seed, seed);
}
VICTIM_API __attribute__((target("avx512f"))) __m512d victim_wide_vector(__m512d seed) {
  return _mm512_add_pd(seed, seed);
}
VICTIM_API __complex__ long double victim_complex(long double seed) {
  __complex__ long double made;
  __real__ made = seed;
  __imag__ made = seed / 3;
  return made;
}
VICTIM_API int64_t victim_stack_arguments(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                                          int64_t f, int64_t g, int64_t h, int64_t i) {
  return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i;
}
VICTIM_API double victim_variadic(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(arguments, double);
  va_end(arguments);
  return sum;
}
