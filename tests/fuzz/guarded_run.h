#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fieldcost::fuzz {

// What one input may cost. Processor time, so that a busy machine fails nothing; the time on the
// clock is for an input that waits for ever.
struct InputLimits {
  unsigned cpu_seconds = 10;
  unsigned clock_seconds = 300;
  std::uint64_t peak_mib = 1024;  // of the process, all earlier inputs included
};

struct FailedInput {
  std::uint64_t number = 0;
  std::string reason;  // "signal 6 (Aborted)"
};

struct GuardedReport {
  std::vector<FailedInput> failed;
  std::uint64_t slowest_ms = 0;  // of processor time
  std::uint64_t slowest_number = 0;
  std::uint64_t peak_mib = 0;
};

inline constexpr std::size_t kMaxFailedInputs = 20;

// Calls run(0) to run(count - 1) in a child process. An input that ends the child or exceeds a
// limit has failed; the next one gets a new child. Gives up after kMaxFailedInputs. What the child
// reports when it ends (leaks) is attributed to the number count.
GuardedReport RunGuarded(std::uint64_t count, const InputLimits& limits,
                         const std::function<void(std::uint64_t number)>& run);

}  // namespace fieldcost::fuzz
