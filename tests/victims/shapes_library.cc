#include "tests/victims/shapes_library.h"

#include <stdarg.h>
#include <stdio.h>

VICTIM_API bool victim_bool(int64_t seed) { return (seed & 4) != 0; }
VICTIM_API int8_t victim_small(int64_t seed) { return static_cast<int8_t>(-seed); }
VICTIM_API int32_t victim_int(int64_t seed) { return static_cast<int32_t>(-seed * 3); }
VICTIM_API int64_t victim_long(int64_t seed) { return seed << 33; }
VICTIM_API VictimWide victim_wide(int64_t seed) { return VictimWide{seed} * INT64_MAX; }
VICTIM_API VictimMixedReversed victim_mixed_reversed(int64_t seed) {
  return {static_cast<double>(seed) / 8, -seed};
}
VICTIM_API VictimFloats victim_floats(float seed) { return {seed / 2, seed / 4}; }
VICTIM_API VictimLong victim_long_struct(long double seed) {
  return {seed / 7, static_cast<int64_t>(seed)};
}
VICTIM_API __complex__ float victim_complex_float(float seed) {
  __complex__ float made;
  __real__ made = seed;
  __imag__ made = -seed / 2;
  return made;
}
VICTIM_API __complex__ double victim_complex_double(double seed) {
  __complex__ double made;
  __real__ made = seed / 3;
  __imag__ made = -seed;
  return made;
}
VICTIM_API __m128d victim_narrow_vector(__m128d seed) { return _mm_add_pd(seed, seed); }
VICTIM_API const char* victim_pointer(int64_t seed) { return &"0123456789abcdef"[seed & 15]; }
static int64_t ChosenCode(int64_t seed) { return seed * 5; }
extern "C" __attribute__((visibility("hidden"))) int64_t (*resolve_chosen())(int64_t) {
  return ChosenCode;
}
VICTIM_API __attribute__((ifunc("resolve_chosen"))) int64_t victim_chosen(int64_t seed);

std::string VictimObject(int64_t seed) { return std::string(static_cast<size_t>(seed), 'o'); }

VICTIM_API double victim_eight_reals(double a, double b, double c, double d, double e, double f,
                                     double g, double h, double on_the_stack) {
  return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * on_the_stack;
}
VICTIM_API int64_t victim_by_value(VictimBig on_the_stack, int64_t in_a_register) {
  return on_the_stack.values[0] + 3 * on_the_stack.values[4] + 5 * in_a_register;
}
VICTIM_API __attribute__((target("avx"))) __m256d victim_eight_vectors(__m256d a, __m256d b,
                                                                       __m256d c, __m256d d,
                                                                       __m256d e, __m256d f,
                                                                       __m256d g, __m256d h) {
  return _mm256_add_pd(_mm256_sub_pd(_mm256_mul_pd(a, b), _mm256_mul_pd(c, d)),
                       _mm256_sub_pd(_mm256_mul_pd(e, f), _mm256_mul_pd(g, h)));
}
VICTIM_API int victim_variadic_registers(const char* format, ...) {
  char text[64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  int sum = 0;
  for (const char* at = text; *at != '\0'; ++at) sum = sum * 31 + *at;
  return sum;
}

__asm__(R"(
    .text
    .p2align 4
    .globl victim_static_chain
    .type victim_static_chain, @function
victim_static_chain:
    .cfi_startproc
    endbr64
    movq %r10, %rax
    ret
    .cfi_endproc
    .size victim_static_chain, . - victim_static_chain
)");
