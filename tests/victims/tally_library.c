// A library with few functions and few imports, so that a random pick is easy to predict.

#include "tests/victims/tally_library.h"

#include <stdlib.h>

void tally_once(void) {}
void tally_often(void) {}
void tally_always(void) {}

void tally_spin(long rounds) {
  for (volatile long i = 0; i < rounds; ++i) {
  }
}

void tally_allocate(long bytes) {
  void* const made = malloc((size_t)bytes);
  __asm__ volatile("" : : "r"(made) : "memory");
  free(made);
}

double tally_real(double value) { return value + 1; }
long double tally_long_real(long double value) { return value + 1; }
