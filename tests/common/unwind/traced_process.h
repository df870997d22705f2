#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/unwind/memory.h"
#include "common/unwind/module_map.h"
#include "common/unwind/registers.h"

namespace fieldcost::testing {

// A child under ptrace(2) that is stopped whenever it is looked at; killed at the end. What fails
// is a failed check.
class TracedProcess {
 public:
  // Stopped at the program's, or its loader's, first instruction. Output goes to /dev/null, the
  // random places of its memory are not random.
  explicit TracedProcess(const std::vector<std::string>& command);
  ~TracedProcess();
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool ended() const { return ended_; }
  int exit_status() const { return exit_status_; }

  // Runs one instruction, or enters the handler of a signal that was sent to it. False: it ended.
  bool Step();
  // Runs until it stops itself (SIGSTOP), which then does not happen. False: it ended.
  bool RunToStop();
  // Runs to the next entry into a system call, or exit from one.
  bool RunToSystemCall();

  unwind::Registers registers() const;
  std::uint64_t stack_pointer() const;
  std::uint64_t instruction_pointer() const;
  // The signal that the next step delivers; 0: none.
  int pending_signal() const { return pending_signal_; }
  unwind::ProcessMemory& memory() { return memory_; }
  std::uint64_t Word(std::uint64_t address);
  // The bytes of the next instruction: at most 15.
  std::vector<std::uint8_t> NextInstruction();
  // What is mapped now; read again after each system call.
  unwind::ModuleMap& map();

 private:
  bool Resume(int request);

  pid_t pid_ = -1;
  unwind::ProcessMemory memory_;
  unwind::ModuleMap map_;
  bool map_is_new_ = false;
  bool ended_ = false;
  int exit_status_ = -1;
  int pending_signal_ = 0;
};

// The return addresses that calls left on a thread's stack, as each instruction since the first one
// said so: a truth that knows nothing of call frame information. Follows one process step by step.
class ShadowStack {
 public:
  // Before the step, and after it.
  void Before(TracedProcess& process);
  void After(TracedProcess& process);
  // These are already there, innermost first: each lies in the next place that holds it.
  void StartFrom(const std::vector<std::uint64_t>& return_addresses, TracedProcess& process);

  // Return addresses, innermost first, as they are now where calls left them: what passes
  // exceptions on writes over its own.
  std::vector<std::uint64_t> Addresses(TracedProcess& process) const;

 private:
  struct Entry {
    std::uint64_t slot = 0;  // where on the stack it lies; odd: below there, it was interrupted
    std::uint64_t address = 0;
  };
  std::vector<Entry> entries_;
  std::uint64_t stack_pointer_ = 0;
  std::uint64_t instruction_pointer_ = 0;
  std::vector<std::uint8_t> instruction_;
  int signal_ = 0;
};

}  // namespace fieldcost::testing
