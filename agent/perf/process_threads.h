#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace fieldcost::perf {

// Returns the process's current threads; empty: there is no such process.
std::vector<pid_t> ThreadsOf(pid_t pid);

// Returns what follows the name, which may be any text, in /proc/PID/task/TID/stat: the thread's
// state and further fields, separated by blanks. Empty: the text is invalid.
std::string_view StatFromState(std::string_view untrusted_text);
// Whether that is the state of a waiting thread, which is neither running nor runnable.
bool IsWaitingState(char state);
// Whether the thread is waiting now.
bool IsWaiting(pid_t pid, pid_t tid);

}  // namespace fieldcost::perf
