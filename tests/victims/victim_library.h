#pragma once

// The library whose functions the tests measure: every call does exactly what its name states.

#include <complex.h>
#include <immintrin.h>
#include <stdint.h>

#ifdef __cplusplus
#define VICTIM_API extern "C"
#else
#define VICTIM_API
#endif

struct VictimBig {
  int64_t values[5];  // returned through a hidden pointer
};
struct VictimPair {
  int64_t first;  // returned in rax:rdx
  int64_t second;
};
struct VictimMixed {
  int64_t number;  // returned in rax and xmm0
  double real;
};
struct VictimReals {
  double first;  // returned in xmm0:xmm1
  double second;
};

VICTIM_API void victim_noop();
VICTIM_API void victim_noop_too();                       // another name of the same function
VICTIM_API void* victim_allocate(uint64_t bytes);        // by its own code
VICTIM_API void* victim_allocate_below(uint64_t bytes);  // by another function it calls
VICTIM_API void victim_call_back(void (*function)(void*), void* argument);
VICTIM_API uint64_t victim_recurse(uint64_t depth);  // each level calls the other one
VICTIM_API uint64_t victim_recurse_too(uint64_t depth);
VICTIM_API int64_t victim_tail(int64_t value);  // jumps to victim_tail_end
VICTIM_API int64_t victim_tail_end(int64_t value);
VICTIM_API void victim_throw(int value);
VICTIM_API void victim_rethrow(int value);  // catches, throws again
VICTIM_API void victim_spin(uint64_t rounds);

VICTIM_API VictimBig victim_big(int64_t seed);
VICTIM_API VictimPair victim_pair(int64_t seed);
VICTIM_API VictimMixed victim_mixed(int64_t seed);
VICTIM_API VictimReals victim_reals(double seed);
VICTIM_API float victim_float(float seed);
VICTIM_API double victim_double(double seed);
VICTIM_API long double victim_long_double(long double seed);
VICTIM_API __attribute__((target("avx"))) __m256d victim_vector(__m256d seed);
VICTIM_API __attribute__((target("avx512f"))) __m512d victim_wide_vector(__m512d seed);
VICTIM_API __complex__ long double victim_complex(long double seed);  // returned in st0 and st1
VICTIM_API int64_t victim_stack_arguments(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                                          int64_t f, int64_t g, int64_t h, int64_t i);
VICTIM_API double victim_variadic(int count, ...);  // sums `count` doubles
