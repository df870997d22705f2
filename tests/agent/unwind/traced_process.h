#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/unwind/memory_reader.h"
#include "agent/unwind/module_map.h"
#include "agent/unwind/registers.h"

namespace fieldcost::testing {

// A child under ptrace(2). It is stopped between calls and killed by the destructor. Any failure is
// a failed check.
class TracedProcess {
 public:
  // Stops at the first instruction of the program or its loader. Output goes to /dev/null; address
  // space randomisation is off.
  explicit TracedProcess(const std::vector<std::string>& command);
  ~TracedProcess();
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool ended() const { return ended_; }
  int exit_status() const { return exit_status_; }

  // Runs one instruction, or enters the handler of a pending signal. Returns false if it ended.
  bool Step();
  // Runs until it sends itself SIGSTOP, which is suppressed. Returns false if it ended.
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
  // The current mappings; read again after each system call.
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

// The return addresses on a thread's stack, tracked through every instruction since the first one.
// A ground truth that is independent of call frame information. Follows one process step by step.
class ShadowStack {
 public:
  // Called before and after each step.
  void Before(TracedProcess& process);
  void After(TracedProcess& process);
  // Return addresses that are already on the stack, innermost first; each is in the next slot that
  // holds it.
  void StartFrom(const std::vector<std::uint64_t>& return_addresses, TracedProcess& process);

  // The current contents of the return address slots, innermost first: code that passes exceptions
  // on overwrites its own.
  std::vector<std::uint64_t> Addresses(TracedProcess& process) const;

 private:
  struct Entry {
    std::uint64_t slot = 0;  // its address on the stack; odd: interrupted just above it
    std::uint64_t address = 0;
  };
  std::vector<Entry> entries_;
  std::uint64_t stack_pointer_ = 0;
  std::uint64_t instruction_pointer_ = 0;
  std::vector<std::uint8_t> instruction_;
  int signal_ = 0;
};

}  // namespace fieldcost::testing
