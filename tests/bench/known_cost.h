#pragma once

#include <stdint.h>

// Functions whose cost is known, because it can be timed from outside: calls in a row, each of
// which needs what the last one returned. `steps` says how much there is to do.

extern "C" {
uint64_t bench_empty(uint64_t value, uint64_t steps);
uint64_t bench_chain(uint64_t value, uint64_t steps);   // multiplications, each waits for the last
uint64_t bench_spin(uint64_t value, uint64_t steps);    // counts down
uint64_t bench_change(uint64_t value, uint64_t steps);  // as bench_chain; see known_cost.cc
uint64_t bench_fill(uint64_t value, uint64_t steps);    // stores that do not wait for each other
}
