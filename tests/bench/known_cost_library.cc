#include "tests/bench/known_cost.h"

uint64_t bench_empty(uint64_t value, uint64_t) { return value; }

uint64_t bench_chain(uint64_t value, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) {
    value *= 0x9e3779b97f4a7c15U;
    __asm__ volatile("" : "+r"(value));
  }
  return value;
}

uint64_t bench_change(uint64_t value, uint64_t steps) { return bench_chain(value, steps); }

uint64_t bench_spin(uint64_t value, uint64_t steps) {
  steps += value >> 63;  // depends on the previous call
  while (steps != 0) {
    --steps;
    __asm__ volatile("" : "+r"(steps));
  }
  return value + steps;
}

uint64_t bench_fill(uint64_t value, uint64_t steps) {
  static uint64_t buffer[512];
  for (uint64_t i = 0; i < steps; ++i) __atomic_store_n(&buffer[i & 511], value, __ATOMIC_RELAXED);
  return value + (buffer[0] >> 63);
}
