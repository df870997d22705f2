#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/unwind/unwinder.h"

namespace fieldcost::sampler {

// Where a thread is that waits in the kernel.
struct WaitPlace {
  std::uint64_t stack_pointer = 0;
  std::uint64_t address = 0;  // of the next instruction in user mode
  bool operator==(const WaitPlace&) const = default;
};

// Of the text of a /proc/PID/task/TID/syscall; nullopt: it runs, or it is no such text.
std::optional<WaitPlace> ParseWaitPlace(std::string_view untrusted_text);

// The stack of a thread that waits, read from outside: the thread is not stopped. Registers that
// calls preserve are not known but where a frame on the way has saved them: a stack may be cut.
// False: it does not wait, may not be looked at, or went on meanwhile.
bool ReadWaitStack(pid_t pid, pid_t tid, unwind::ModuleMap& map, unwind::Unwinder& unwinder,
                   unwind::Stack& stack);

}  // namespace fieldcost::sampler
