#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace fieldcost::sampler {

// The threads that a process has now; empty: there is none.
std::vector<pid_t> ThreadsOf(pid_t pid);

// What follows the name, which may be anything, in the text of a /proc/PID/task/TID/stat: the
// thread's state and more, with blanks between them. Empty: it is no such text.
std::string_view StatFromState(std::string_view untrusted_text);
// Whether that is the state of a thread that has no need of a CPU.
bool IsWaitingState(char state);
// Whether the thread has no need of a CPU now.
bool IsWaiting(pid_t pid, pid_t tid);

}  // namespace fieldcost::sampler
