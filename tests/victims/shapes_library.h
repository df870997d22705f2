#pragma once

// Part of the victim library: functions for every way of passing arguments and results on x86-64
// (System V ABI 1.0, section 3.2.3), in addition to those of victim_library.h.

#include <stdint.h>

#include <string>

#include "tests/victims/victim_library.h"

struct VictimMixedReversed {
  double real;  // returned in xmm0 and rax
  int64_t number;
};
struct VictimFloats {
  float first;  // both returned in xmm0
  float second;
};
struct VictimLong {
  long double value;  // returned through a hidden pointer, since the second member makes two words
  int64_t number;
};
__extension__ using VictimWide = __int128;

VICTIM_API bool victim_bool(int64_t seed);
VICTIM_API int8_t victim_small(int64_t seed);
VICTIM_API int32_t victim_int(int64_t seed);
VICTIM_API int64_t victim_long(int64_t seed);
VICTIM_API VictimWide victim_wide(int64_t seed);  // rax:rdx
VICTIM_API VictimMixedReversed victim_mixed_reversed(int64_t seed);
VICTIM_API VictimFloats victim_floats(float seed);
VICTIM_API VictimLong victim_long_struct(long double seed);
VICTIM_API __complex__ float victim_complex_float(float seed);     // packed in xmm0
VICTIM_API __complex__ double victim_complex_double(double seed);  // xmm0 and xmm1
VICTIM_API __m128d victim_narrow_vector(__m128d seed);
VICTIM_API const char* victim_pointer(int64_t seed);
VICTIM_API int64_t victim_chosen(int64_t seed);  // an IFUNC: its code is chosen by the loader
std::string VictimObject(int64_t seed);  // through a hidden pointer, since it has a destructor

// Arguments.
VICTIM_API double victim_eight_reals(double a, double b, double c, double d, double e, double f,
                                     double g, double h, double on_the_stack);
VICTIM_API int64_t victim_by_value(VictimBig on_the_stack, int64_t in_a_register);
VICTIM_API __attribute__((target("avx"))) __m256d victim_eight_vectors(__m256d a, __m256d b,
                                                                       __m256d c, __m256d d,
                                                                       __m256d e, __m256d f,
                                                                       __m256d g, __m256d h);
VICTIM_API int victim_variadic_registers(const char* format, ...);  // into 64 bytes, by vsnprintf
VICTIM_API uint64_t victim_static_chain();  // the value of r10, where nested functions find theirs
