// Calls functions of every shape repeatedly, and prints a line about each: arguments and results
// must arrive unchanged.

#include <stdio.h>
#include <string.h>

#include "tests/victims/shapes_library.h"

namespace {

constexpr int kRounds = 100;

void Integers() {
  long sums[8] = {};
  for (int i = 0; i < kRounds; ++i) {
    victim_noop();
    sums[0] += victim_bool(i);
    sums[1] += victim_small(i);
    sums[2] += victim_int(i);
    sums[3] += victim_long(i);
    const VictimWide wide = victim_wide(i);
    sums[4] += static_cast<long>(wide >> 64) + static_cast<long>(wide & 0xffff);
    const VictimPair pair = victim_pair(i);
    sums[5] += pair.first * 2 + pair.second;
    sums[6] += *victim_pointer(i);
    sums[7] += victim_chosen(i);
  }
  printf("bool %ld, small %ld, int %ld, long %ld, wide %ld, pair %ld, pointer %ld, chosen %ld\n",
         sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]);
}

void Reals() {
  double sums[8] = {};
  for (int i = 0; i < kRounds; ++i) {
    sums[0] += static_cast<double>(victim_float(static_cast<float>(i)));
    sums[1] += victim_double(i);
    const VictimReals reals = victim_reals(i);
    sums[2] += reals.first * reals.second;
    const VictimFloats floats = victim_floats(static_cast<float>(i));
    sums[3] += static_cast<double>(floats.first - floats.second);
    const __complex__ float single = victim_complex_float(static_cast<float>(i));
    sums[4] += static_cast<double>(__real__ single * 2 + __imag__ single);
    const __complex__ double both = victim_complex_double(i);
    sums[5] += __real__ both * __imag__ both;
  }
  printf("float %g, double %g, reals %g, floats %g, complex float %g, complex double %.17g\n",
         sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
}

void Mixed() {
  double sums[8] = {};
  long double longs[3] = {};
  for (int i = 0; i < kRounds; ++i) {
    const VictimMixed mixed = victim_mixed(i);
    sums[0] += static_cast<double>(mixed.number) - mixed.real;
    const VictimMixedReversed reversed = victim_mixed_reversed(i);
    sums[1] += static_cast<double>(reversed.number) - reversed.real;
    longs[0] += victim_long_double(i);
    const __complex__ long double both = victim_complex(i);
    longs[1] += __real__ both * 2 + __imag__ both;
    const VictimLong structure = victim_long_struct(i);
    longs[2] += structure.value + static_cast<long double>(structure.number);
    const VictimBig big = victim_big(i);
    sums[2] += static_cast<double>(big.values[0] + 2 * big.values[4]);
    sums[3] += static_cast<double>(VictimObject(i).size());
  }
  printf("mixed %g, reversed %g, big %g, object %g\n", sums[0], sums[1], sums[2], sums[3]);
  printf("long double %.20Lg, complex long double %.20Lg, long struct %.20Lg\n", longs[0], longs[1],
         longs[2]);
}

void Arguments() {
  double sum = 0;
  for (int i = 0; i < kRounds; ++i) {
    sum += victim_eight_reals(i, 2, 3, 4, 5, 6, 7, 8, i + 0.5);
    sum += static_cast<double>(victim_stack_arguments(i, 2, 3, 4, 5, 6, 7, 8, i));
    sum += static_cast<double>(victim_by_value({{i, 2, 3, 4, 5}}, i));
    sum += victim_variadic(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, i + 0.5);
    sum += victim_variadic(0);
    sum += victim_variadic_registers("%d %g %s %Lg %d %d %d %d %g", i, 1.5, "text", 2.5L, 4, 5, 6,
                                     7, i + 0.25);
  }
  printf("arguments %.17g\n", sum);
}

uint64_t CallWithChain(uint64_t chain) {
  uint64_t seen;
  __asm__ volatile(
      "movq %%rsp, %%rbx\n\t"
      "andq $-16, %%rsp\n\t"
      "movq %1, %%r10\n\t"
      "call victim_static_chain@PLT\n\t"
      "movq %%rbx, %%rsp"
      : "=&a"(seen)
      : "r"(chain)
      : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return seen;
}

void StaticChain() {
  CallWithChain(1);  // the loader may change r10 when it binds the function
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kRounds; ++i) sum += CallWithChain(i << 40);
  printf("static chain %lu\n", static_cast<unsigned long>(sum));
}

void NarrowVector() {
  double values[2];
  _mm_storeu_pd(values, victim_narrow_vector(_mm_set_pd(1.5, 2.5)));
  printf("__m128d %g %g\n", values[0], values[1]);
}

__attribute__((target("avx"))) void Vector() {
  double values[4];
  __m256d sum = _mm256_setzero_pd();
  for (int i = 0; i < kRounds; ++i) {
    const __m256d seed = _mm256_set_pd(i, 2, 3, 4);
    sum = _mm256_add_pd(sum, victim_vector(seed));
    sum = _mm256_add_pd(
        sum, victim_eight_vectors(seed, sum, seed, seed, _mm256_set1_pd(0.5), sum, seed, sum));
    sum = _mm256_mul_pd(sum, _mm256_set1_pd(0.125));
  }
  _mm256_storeu_pd(values, sum);
  printf("__m256d %.17g %.17g %.17g %.17g\n", values[0], values[1], values[2], values[3]);
}

__attribute__((target("avx512f"))) void WideVector() {
  double values[8];
  __m512d sum = _mm512_setzero_pd();
  for (int i = 0; i < kRounds; ++i) {
    sum = _mm512_add_pd(sum, victim_wide_vector(_mm512_set_pd(i, 2, 3, 4, 5, 6, 7, i)));
  }
  _mm512_storeu_pd(values, sum);
  printf("__m512d");
  for (const double value : values) printf(" %g", value);
  printf("\n");
}

}  // namespace

int main() {
  Integers();
  Reals();
  Mixed();
  Arguments();
  StaticChain();
  NarrowVector();
  if (__builtin_cpu_supports("avx")) {
    Vector();
  } else {
    puts("no __m256d: this processor has no AVX");
  }
  if (__builtin_cpu_supports("avx512f")) {
    WideVector();
  } else {
    puts("no __m512d: this processor has no AVX-512");
  }
  return 0;
}
