#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/unwind/unwinder.h"

namespace fieldcost::sampler {

// The place of a thread that waits in the kernel.
struct WaitPlace {
  std::uint64_t stack_pointer = 0;
  std::uint64_t address = 0;      // of the next instruction in user mode
  std::int64_t system_call = -1;  // its number; -1: it is in none
  bool operator==(const WaitPlace&) const = default;
};

// Reads the text of a /proc/PID/task/TID/syscall; nullopt: the thread runs, or it is no such text.
std::optional<WaitPlace> ParseWaitPlace(std::string_view untrusted_text);

// The stack of a thread that waits, read from outside: the thread is not stopped. Registers that
// calls preserve are not known but where a frame on the way has saved them: a stack may be cut.
// Where it waits; nullopt: it does not, may not be looked at, or went on meanwhile.
std::optional<WaitPlace> ReadWaitStack(pid_t pid, pid_t tid, unwind::ModuleMap& map,
                                       unwind::Unwinder& unwinder, unwind::Stack& stack);

// The innermost bytes of such a stack, to be unwound later; as ReadWaitStack.
struct WaitCopy {
  WaitPlace place;
  std::vector<std::uint8_t> bytes;  // from the stack pointer on
};
std::optional<WaitCopy> CopyWaitStack(pid_t pid, pid_t tid, std::size_t most_bytes);

}  // namespace fieldcost::sampler
