// Passes points at a steady rate, for probe_rate.py:
//   bench_probe_rate POINTS_PER_SECOND SECONDS
// Events have four points each. Prints the number of points passed as JSON.

#include <fieldcost/probe.h>
#include <stdlib.h>
#include <time.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr uint64_t kPointsOfEvent = 4;

double now_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const double events_per_second = strtod(arguments[1], nullptr) / kPointsOfEvent;
  const auto events = static_cast<uint64_t>(events_per_second * strtod(arguments[2], nullptr));
  if (events_per_second <= 0) return 64;
  const double begin = now_seconds();
  for (uint64_t i = 0; i < events; ++i) {
    while (now_seconds() < begin + static_cast<double>(i) / events_per_second) {
    }
    FIELDCOST_EVENT(event, "rate");
    FIELDCOST_POINT("a");
    FIELDCOST_POINT("b");
  }
  printf("{\"points\": %llu, \"seconds\": %.3f}\n",
         static_cast<unsigned long long>(kPointsOfEvent * events), now_seconds() - begin);
  return 0;
}
