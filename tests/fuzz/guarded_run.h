#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fieldcost::fuzz {

// The cost limits of one input. CPU time is used so that a busy machine causes no failures; the
// clock limit is for inputs that wait forever.
struct InputLimits {
  unsigned cpu_seconds = 10;
  unsigned clock_seconds = 300;
  std::uint64_t peak_mib = 1024;  // of the process, including all earlier inputs
};

struct FailedInput {
  std::uint64_t number = 0;
  std::string reason;  // for example "signal 6 (Aborted)"
};

struct GuardedReport {
  std::vector<FailedInput> failed;
  std::uint64_t slowest_ms = 0;  // CPU time
  std::uint64_t slowest_number = 0;
  std::uint64_t peak_mib = 0;
};

inline constexpr std::size_t kMaxFailedInputs = 20;

// Calls run(0) to run(count - 1) in a child process. An input fails if it ends the child or exceeds
// a limit; the next one runs in a new child. Gives up after kMaxFailedInputs. Problems that the
// child reports at its end (leaks) are attributed to number `count`.
GuardedReport RunGuarded(std::uint64_t count, const InputLimits& limits,
                         const std::function<void(std::uint64_t number)>& run);

}  // namespace fieldcost::fuzz
