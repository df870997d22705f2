// Calls one function of known cost:  known_cost FUNCTION STEPS direct|measured|busy
//
// "direct" prints the ns per call: the minimum over many short batches of consecutive calls, which
// excludes the machine's other load. The other modes are for runs under the preload library. They
// pause briefly between calls, for a varying time, because counters with coarse steps would
// otherwise lock to the loop. With "busy", each call comes while the caller waits for its own
// multiplications, which are not part of the function's cost.
//
//   known_cost change MANY LONG SHORT   calls whose cost changes: MANY calls of LONG steps, then
//                        2,000 times as many of SHORT steps. Prints the average ns per call.
//
//   known_cost clock     prints tsc_to_ns_multiplier of this machine, as in the policy file

#include "tests/bench/known_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>

namespace {

using Function = uint64_t (*)(uint64_t, uint64_t);
constexpr int kBatches = 3000;
constexpr int kMeasuredCalls = 4000;
constexpr uint64_t kOwnSteps = 60;
constexpr double kBatchNs = 5000;

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double BatchNs(Function function, uint64_t steps, int calls) {
  uint64_t value = 3;
  const double start = Now();
  for (int i = 0; i < calls; ++i) value = function(value, steps);
  const double ns = Now() - start;
  __asm__ volatile("" : : "r"(value));
  return ns;
}

// Nanoseconds per tick of the time stamp counter, << 32 as in the policy file.
double TicksToNs() {
  const double ns = Now();
  const uint64_t ticks = __rdtsc();
  while (Now() - ns < 2e8) {
  }
  return 0x1p32 * (Now() - ns) / static_cast<double>(__rdtsc() - ticks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "clock") == 0) {
    printf("%.0f\n", TicksToNs());
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "change") == 0) {
    const auto many = static_cast<int>(strtoull(argv[2], nullptr, 10));
    const auto change = [](uint64_t value, uint64_t n) { return bench_change(value, n); };
    const int short_ones = 2000 * many;
    const double ns = BatchNs(change, strtoull(argv[3], nullptr, 10), many) +
                      BatchNs(change, strtoull(argv[4], nullptr, 10), short_ones);
    printf("%.2f\n", ns / (many + short_ones));
    return 0;
  }
  if (argc != 4) return 2;
  Function function = nullptr;
  // Measures this program's own calls through the PLT.
  if (strcmp(argv[1], "empty") == 0) {
    function = [](uint64_t value, uint64_t n) { return bench_empty(value, n); };
  } else if (strcmp(argv[1], "chain") == 0) {
    function = [](uint64_t value, uint64_t n) { return bench_chain(value, n); };
  } else if (strcmp(argv[1], "spin") == 0) {
    function = [](uint64_t value, uint64_t n) { return bench_spin(value, n); };
  } else if (strcmp(argv[1], "fill") == 0) {
    function = [](uint64_t value, uint64_t n) { return bench_fill(value, n); };
  } else {
    return 2;
  }
  const uint64_t steps = strtoull(argv[2], nullptr, 10);
  if (strcmp(argv[3], "direct") == 0) {
    const double rough = BatchNs(function, steps, 10) / 10;
    const int calls = std::max(10, static_cast<int>(kBatchNs / std::max(rough, 1.0)));
    double least = 1e12;
    for (int i = 0; i < kBatches; ++i) least = std::min(least, BatchNs(function, steps, calls));
    printf("%.2f\n", least / calls);
    return 0;
  }
  const bool busy = strcmp(argv[3], "busy") == 0;
  uint64_t value = 3;
  uint64_t own = 5;
  uint64_t random = 1;
  for (int i = 0; i < kMeasuredCalls; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    for (uint64_t pause = random >> 58; pause != 0; --pause) __asm__ volatile("");
    if (busy) {
      for (uint64_t k = 0; k < kOwnSteps; ++k) __asm__ volatile("imul %0, %0" : "+r"(own));
    }
    value = function(value, steps);
  }
  __asm__ volatile("" : : "r"(value), "r"(own));
  return 0;
}
