#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fieldcost::idle_agent {

// What everybody may know of a thread, from /proc.
struct ThreadState {
  pid_t pid = 0;
  pid_t tid = 0;
  bool waits = false;         // it has no need of a CPU
  std::uint32_t cpu = 0;      // where it ran last, or runs
  std::uint64_t runs = 0;     // how often it has got a CPU
  std::uint64_t last_ns = 0;  // when it ran last, by a clock of the CPU's; 0: not known
  bool operator==(const ThreadState&) const = default;
};

// Reads the texts of a thread's files in /proc: `stat` (state and CPU), `schedstat` (runs) and
// `sched`, which may be empty (when it ran last). nullopt: it has ended, or they are no such texts.
std::optional<ThreadState> ParseThreadState(std::string_view untrusted_stat,
                                            std::string_view untrusted_schedstat,
                                            std::string_view untrusted_sched);

// The states of all threads of the process; empty: there is none.
std::vector<ThreadState> StatesOf(pid_t pid);

// When the thread began, in a unit of the kernel's: with its number that is this thread and none
// that came later. nullopt: there is none.
std::optional<std::uint64_t> StartOf(pid_t pid, pid_t tid);

// Processes that threads of this one have started, and that are still there.
std::vector<pid_t> ChildrenOf(pid_t pid);

}  // namespace fieldcost::idle_agent
