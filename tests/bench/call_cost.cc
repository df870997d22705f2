// Prints the median CPU ns per call of bench_target, over batches. Usage:
//   call_cost plain|wall|floor [BATCHES]
// "wall" is "plain" in wall time, for peers that work in another process. "floor" does inline what
// every measurement must do: two ordered time stamps and a bucket update around the call.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "common/shm/log2_bucket.h"
#include "common/shm/run_file.h"

extern "C" void bench_target();
extern "C" void bench_other();

namespace {

using fieldcost::shm::RunBucket;
constexpr int kCallsPerBatch = 20000;

double Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Ordered after all earlier instructions: otherwise short functions would seem to take almost no
// time.
uint64_t TimeStamp() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
}

RunBucket buckets[fieldcost::shm::kBucketSlots];

void CallWithFloor(uint64_t multiplier) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t start = TimeStamp();
  __asm__ volatile("lfence" ::: "memory");  // nothing of the call may start before the time stamp
  bench_target();
  const uint64_t ticks = TimeStamp() - start;
  const auto value = static_cast<uint64_t>((Wide{ticks} * multiplier) >> 32);
  RunBucket& bucket = buckets[fieldcost::shm::SlotOf(value)];
  const Wide squares = ((Wide{bucket.sumsq_high} << 64) | bucket.sumsq_low) + Wide{value} * value;
  bucket = {bucket.count + 1, bucket.sum + value, static_cast<uint64_t>(squares),
            static_cast<uint64_t>(squares >> 64)};
  __asm__ volatile("" ::: "memory");
}

}  // namespace

int main(int argc, char** argv) {
  const bool floor = argc > 1 && strcmp(argv[1], "floor") == 0;
  const bool wall = argc > 1 && strcmp(argv[1], "wall") == 0;
  const clockid_t clock = wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const int batches = argc > 2 ? atoi(argv[2]) : 201;
  const auto multiplier = static_cast<uint64_t>(1.9e9);
  bench_other();
  std::vector<double> costs;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = Nanoseconds(clock);
    if (floor) {
      for (int i = 0; i < kCallsPerBatch; ++i) CallWithFloor(multiplier);
    } else {
      for (int i = 0; i < kCallsPerBatch; ++i) bench_target();
    }
    costs.push_back((Nanoseconds(clock) - start) / kCallsPerBatch);
  }
  std::sort(costs.begin(), costs.end());
  printf("%.3f\n", costs[costs.size() / 2]);
  return 0;
}
