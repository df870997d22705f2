#pragma once

#include <stdint.h>

// Functions whose cost is known because it can be timed from outside: in consecutive calls, each
// depends on the previous result. `steps` sets the amount of work.

extern "C" {
uint64_t bench_empty(uint64_t value, uint64_t steps);
uint64_t bench_chain(uint64_t value, uint64_t steps);   // dependent multiplications
uint64_t bench_spin(uint64_t value, uint64_t steps);    // counts down
uint64_t bench_change(uint64_t value, uint64_t steps);  // like bench_chain; see known_cost.cc
uint64_t bench_fill(uint64_t value, uint64_t steps);    // stores that do not depend on each other
}
