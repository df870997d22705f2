#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace fieldcost::perf {

// Returns the process's current threads; empty if there is no such process.
std::vector<pid_t> ThreadsOf(pid_t pid);

// Returns the fields after the name, which may be any text, in /proc/PID/task/TID/stat: the
// thread's state and further fields, separated by blanks. Empty if the text is invalid.
std::string_view StatFromState(std::string_view untrusted_text);
// Returns whether this is the state of a waiting thread, which is neither running nor runnable.
bool IsWaitingState(char state);
// Returns whether the thread is waiting now.
bool IsWaiting(pid_t pid, pid_t tid);

}  // namespace fieldcost::perf
