#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>

namespace fieldcost::idle_agent {

// CLOCK_MONOTONIC, which perf's records are made to tell, too.
inline std::uint64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline void SleepUntil(std::uint64_t time_ns) {
  const timespec time{.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000),
                      .tv_nsec = static_cast<long>(time_ns % 1'000'000'000)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace fieldcost::idle_agent
