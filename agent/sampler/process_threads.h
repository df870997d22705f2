#pragma once

#include <sys/types.h>

#include <vector>

namespace fieldcost::sampler {

// The threads that a process has now; empty: there is none.
std::vector<pid_t> ThreadsOf(pid_t pid);

// Whether the thread has no need of a CPU now, by the state in /proc/PID/task/TID/stat.
bool IsWaiting(pid_t pid, pid_t tid);

}  // namespace fieldcost::sampler
