#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/idle/stat_bound.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Measures how long a CPU has been idle, from the kernel's counters. Must be read on that CPU, by a
// thread pinned to it: only then are the counters up to date. Movable; not thread-safe.
class IdleClock {
 public:
  enum class Source {
    kStates,    // time in idle states (cpuidle in sysfs)
    kRunQueue,  // time in which nothing ran there (/proc/schedstat)
    // Whether its thread, which must be SCHED_IDLE, had to wait for the CPU when it woke up.
    // Bounded by /proc/stat, since such a thread may get a busy CPU at once as well.
    kPromptness
  };
  struct Options {
    std::uint64_t tick_ns = 0;        // the approximate interval between reads
    std::optional<Source> only = {};  // nullopt: the best one available
    const char* stat = "/proc/stat";  // replaced in tests
    const char* run_delay = "/proc/thread-self/schedstat";
  };

  // Returns kUnsupported if no source is available. REQUIRES: called by the thread that will read
  // it.
  static Result<IdleClock> Open(std::uint32_t cpu, const Options& options);

  Source source() const { return source_; }

  // Returns the idle ns since the previous call, at most the time since then; 0 in the first call.
  // `now_ns`: CLOCK_MONOTONIC. With kPromptness the sum is at most /proc/stat's growth plus 10 ms.
  std::uint64_t Read(std::uint64_t now_ns);

 private:
  IdleClock(Source source, std::uint32_t cpu, const Options& options);
  // Returns the source's counter in ns; nullopt if it could not be read.
  std::optional<std::uint64_t> Count();
  // Returns the CPU's idle time in /proc/stat.
  std::optional<std::uint64_t> CountOfStat();
  std::uint64_t Bounded(std::uint64_t idle_ns, std::uint64_t now_ns);

  Source source_;
  std::uint32_t cpu_;
  std::uint64_t tick_ns_;
  std::vector<UniqueFd> files_;
  UniqueFd stat_;  // only with kPromptness
  StatBound bound_;
  std::string text_;
  std::uint64_t last_ns_ = 0;  // 0: not read yet
  std::uint64_t last_count_ = 0;
};

// Reads from the text of /proc/schedstat how long threads ran on the CPU, in ns. Returns nullopt if
// the text does not contain it.
std::optional<std::uint64_t> ParseRunTime(std::string_view untrusted_text, std::uint32_t cpu);
// Reads from the text of /proc/PID/task/TID/schedstat how long the thread waited for a CPU, in ns.
std::optional<std::uint64_t> ParseRunDelay(std::string_view untrusted_text);

}  // namespace fieldcost::idle_agent
