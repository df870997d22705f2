#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>

#include "common/base/clock.h"

namespace fieldcost::idle_agent {

inline timespec TimespecOf(std::uint64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
          .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
}

// Waits until a time of MonotonicNs(), the clock that perf's records are configured to use.
inline void SleepUntil(std::uint64_t time_ns) {
  const timespec time = TimespecOf(time_ns);
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace fieldcost::idle_agent
