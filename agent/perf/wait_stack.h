#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/unwind/unwinder.h"

namespace fieldcost::perf {

// Where a thread waits in the kernel.
struct WaitPlace {
  std::uint64_t stack_pointer = 0;
  std::uint64_t address = 0;      // of the next instruction in user mode
  std::int64_t system_call = -1;  // its number; -1: none
  bool operator==(const WaitPlace&) const = default;
};

// Parses the text of /proc/PID/task/TID/syscall; returns nullopt if the thread runs or the text is
// invalid.
std::optional<WaitPlace> ParseWaitPlace(std::string_view untrusted_text);

// Reads the stack of a waiting thread from outside, without stopping it. Callee-saved registers are
// unknown unless a frame on the way has saved them, so the stack may be cut. Returns where the
// thread waits; nullopt if it does not wait, may not be read, or resumed in the meantime.
std::optional<WaitPlace> ReadWaitStack(pid_t pid, pid_t tid, unwind::ModuleMap& map,
                                       unwind::Unwinder& unwinder, unwind::Stack& stack);

// Copies the innermost bytes of such a stack, to be unwound later; otherwise like ReadWaitStack.
struct WaitCopy {
  WaitPlace place;
  std::vector<std::uint8_t> bytes;  // starting at the stack pointer
};
std::optional<WaitCopy> CopyWaitStack(pid_t pid, pid_t tid, std::size_t most_bytes);
// Unwinds a copy. The process may have continued or ended; frames beyond the copy are cut.
void UnwindCopy(const WaitCopy& copy, unwind::ModuleMap& map, unwind::Unwinder& unwinder,
                unwind::Stack& stack);

}  // namespace fieldcost::perf
