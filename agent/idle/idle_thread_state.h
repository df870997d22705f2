#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fieldcost::idle_agent {

// The data in /proc about a thread that any user may read.
struct ThreadState {
  pid_t pid = 0;
  pid_t tid = 0;
  bool waits = false;         // neither running nor runnable
  std::uint32_t cpu = 0;      // where it runs or last ran
  std::uint64_t runs = 0;     // number of times that it got a CPU
  std::uint64_t last_ns = 0;  // when it last ran, by the CPU's clock; 0: unknown
  bool operator==(const ThreadState&) const = default;
};

// Parses the texts of a thread's files in /proc: `stat` (state and CPU), `schedstat` (runs) and
// `sched` (when it last ran; may be empty). Returns nullopt if the thread has ended or the texts
// are invalid.
std::optional<ThreadState> ParseThreadState(std::string_view untrusted_stat,
                                            std::string_view untrusted_schedstat,
                                            std::string_view untrusted_sched);

// Returns the states of all threads of the process; empty if there is no such process.
std::vector<ThreadState> StatesOf(pid_t pid);

// Returns when the thread began, in a unit of the kernel's. Together with the thread's id this
// identifies the thread, even if the id is reused. Returns nullopt if there is no such thread.
std::optional<std::uint64_t> StartOf(pid_t pid, pid_t tid);

// Returns the living child processes of all threads of the process.
std::vector<pid_t> ChildrenOf(pid_t pid);

}  // namespace fieldcost::idle_agent
