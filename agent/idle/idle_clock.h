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

// How long a CPU has been idle so far, by what the kernel counts there. It is read on that CPU, by
// a thread that is pinned to it: only then is all counted that was before. Moves; not thread-safe.
class IdleClock {
 public:
  enum class Source {
    kStates,    // how long it was in idle states (cpuidle in sysfs)
    kRunQueue,  // the time in which nothing ran there (/proc/schedstat)
    // Whether its thread, which must be SCHED_IDLE, waited for the CPU when it woke up; bounded by
    // /proc/stat, since such a thread may get a busy CPU at once, too.
    kPromptness
  };
  struct Options {
    std::uint64_t tick_ns = 0;        // about how often it is read
    std::optional<Source> only = {};  // else the best that there is
    const char* stat = "/proc/stat";  // another one in tests
    const char* run_delay = "/proc/thread-self/schedstat";
  };

  // kUnsupported: there is none. REQUIRES: the calling thread is the one that reads it.
  static Result<IdleClock> Open(std::uint32_t cpu, const Options& options);

  Source source() const { return source_; }

  // Idle ns since the call before, at most the time since then; the first one gives 0. `now`: of
  // CLOCK_MONOTONIC. Of kPromptness together at most what /proc/stat has grown by, and 10 ms.
  std::uint64_t Read(std::uint64_t now_ns);

 private:
  IdleClock(Source source, std::uint32_t cpu, const Options& options);
  // What is counted, ns; nullopt: it could not be read.
  std::optional<std::uint64_t> Count();
  // What /proc/stat counts for the CPU.
  std::optional<std::uint64_t> CountOfStat();
  std::uint64_t Bounded(std::uint64_t idle_ns, std::uint64_t now_ns);

  Source source_;
  std::uint32_t cpu_;
  std::uint64_t tick_ns_;
  std::vector<UniqueFd> files_;
  UniqueFd stat_;  // of kPromptness
  StatBound bound_;
  std::string text_;
  std::uint64_t last_ns_ = 0;  // 0: it has not been read
  std::uint64_t last_count_ = 0;
};

// Reads from the text of /proc/schedstat for how long anybody ran on the CPU, in ns. nullopt: it
// does not tell.
std::optional<std::uint64_t> ParseRunTime(std::string_view untrusted_text, std::uint32_t cpu);
// How long a thread waited for a CPU, ns: of the text of its /proc/PID/task/TID/schedstat.
std::optional<std::uint64_t> ParseRunDelay(std::string_view untrusted_text);

}  // namespace fieldcost::idle_agent
