// Prints the median CPU ns per call of bench_target between two LTTng-UST tracepoints, over
// batches. Whether they record depends on the session that bench.py created. Usage:
//   lttng_cost [BATCHES]

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void bench_target(void);

enum { kCallsPerBatch = 20000, kMaxBatches = 1000 };

static double CpuNanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int Compare(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  static double costs[kMaxBatches];
  int batches = argc > 1 ? atoi(argv[1]) : 11;
  if (batches < 1 || batches > kMaxBatches) return 64;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = CpuNanoseconds();
    for (int i = 0; i < kCallsPerBatch; ++i) {
      lttng_ust_tracepoint(fieldcost_bench, enter, i);
      bench_target();
      lttng_ust_tracepoint(fieldcost_bench, leave, i);
    }
    costs[batch] = (CpuNanoseconds() - start) / kCallsPerBatch;
  }
  qsort(costs, (size_t)batches, sizeof costs[0], Compare);
  printf("%.3f\n", costs[batches / 2]);
  return 0;
}
