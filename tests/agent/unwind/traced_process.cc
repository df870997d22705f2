#include "tests/agent/unwind/traced_process.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "common/base/check.h"

namespace fieldcost::testing {
namespace {

constexpr int kSystemCallStop = SIGTRAP | 0x80;
constexpr std::size_t kMostInstructionBytes = 15;

[[noreturn]] void BecomeTraced(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::personality(ADDR_NO_RANDOMIZE);
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::execvp(arguments[0], arguments.data());
  std::_Exit(127);
}

user_regs_struct RegistersOf(pid_t pid) {
  user_regs_struct registers{};
  FIELDCOST_CHECK(::ptrace(PTRACE_GETREGS, pid, nullptr, &registers) == 0);
  return registers;
}

// call with a relative or an indirect target, after any prefixes.
bool IsCall(const std::vector<std::uint8_t>& bytes) {
  std::size_t i = 0;
  const auto is_prefix = [](std::uint8_t byte) {
    return (byte & 0xf0) == 0x40 || byte == 0x3e || byte == 0xf2 || byte == 0x66 || byte == 0x64 ||
           byte == 0x65 || byte == 0x67 || byte == 0x2e;
  };
  while (i < bytes.size() && is_prefix(bytes[i])) ++i;
  if (i >= bytes.size()) return false;
  return bytes[i] == 0xe8 ||
         (bytes[i] == 0xff && i + 1 < bytes.size() && (bytes[i + 1] >> 3 & 7) == 2);
}

}  // namespace

TracedProcess::TracedProcess(const std::vector<std::string>& command) : memory_(-1), map_(-1) {
  pid_ = ::fork();
  FIELDCOST_CHECK(pid_ >= 0);
  if (pid_ == 0) BecomeTraced(command);
  memory_ = unwind::ProcessMemory(pid_);
  int status = 0;
  FIELDCOST_CHECK(::waitpid(pid_, &status, 0) == pid_);
  FIELDCOST_CHECK(WIFSTOPPED(status));  // otherwise there is no such program
  ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
}

TracedProcess::~TracedProcess() {
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) == pid_ && !WIFEXITED(status) && !WIFSIGNALED(status)) {
  }
}

bool TracedProcess::Resume(int request) {
  if (ended_) return false;
  const long signal = std::exchange(pending_signal_, 0);
  FIELDCOST_CHECK(::ptrace(static_cast<__ptrace_request>(request), pid_, nullptr, signal) == 0);
  int status = 0;
  FIELDCOST_CHECK(::waitpid(pid_, &status, 0) == pid_);
  if (!WIFSTOPPED(status)) {
    ended_ = true;
    exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return false;
  }
  const int number = WSTOPSIG(status);
  if (number != SIGTRAP && number != SIGSTOP && number != kSystemCallStop) pending_signal_ = number;
  if (number == SIGSTOP || number == kSystemCallStop) map_is_new_ = false;
  return true;
}

bool TracedProcess::Step() {
  const auto next = NextInstruction();
  if (next.size() >= 2 && next[0] == 0x0f && next[1] == 0x05) map_is_new_ = false;
  return Resume(PTRACE_SINGLESTEP);
}

bool TracedProcess::RunToStop() {
  int status = 0;
  while (!ended_) {
    const long signal = std::exchange(pending_signal_, 0);
    FIELDCOST_CHECK(::ptrace(PTRACE_CONT, pid_, nullptr, signal) == 0);
    FIELDCOST_CHECK(::waitpid(pid_, &status, 0) == pid_);
    map_is_new_ = false;
    if (!WIFSTOPPED(status)) {
      ended_ = true;
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      return false;
    }
    if (WSTOPSIG(status) == SIGSTOP) return true;
    if (WSTOPSIG(status) != SIGTRAP) pending_signal_ = WSTOPSIG(status);
  }
  return false;
}

bool TracedProcess::RunToSystemCall() { return Resume(PTRACE_SYSCALL); }

unwind::Registers TracedProcess::registers() const {
  const user_regs_struct from = RegistersOf(pid_);
  const unsigned long long values[unwind::kRegisters] = {
      from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8,
      from.r9,  from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip};
  unwind::Registers registers;
  for (std::size_t i = 0; i < unwind::kRegisters; ++i) registers.Set(i, values[i]);
  return registers;
}

std::uint64_t TracedProcess::stack_pointer() const { return RegistersOf(pid_).rsp; }
std::uint64_t TracedProcess::instruction_pointer() const { return RegistersOf(pid_).rip; }

std::uint64_t TracedProcess::Word(std::uint64_t address) {
  std::uint64_t word = 0;
  FIELDCOST_CHECK(memory_.Read(address, &word, sizeof word) == sizeof word);
  return word;
}

std::vector<std::uint8_t> TracedProcess::NextInstruction() {
  std::vector<std::uint8_t> bytes(kMostInstructionBytes);
  bytes.resize(memory_.Read(instruction_pointer(), bytes.data(), bytes.size()));
  return bytes;
}

unwind::ModuleMap& TracedProcess::map() {
  if (!std::exchange(map_is_new_, true)) {
    auto map = unwind::ReadModuleMap(pid_);
    FIELDCOST_CHECK(map.has_value());
    map_ = std::move(*map);
  }
  return map_;
}

void ShadowStack::Before(TracedProcess& process) {
  const unwind::Registers registers = process.registers();
  stack_pointer_ = registers[unwind::kRsp];
  instruction_pointer_ = registers[unwind::kRip];
  instruction_ = process.NextInstruction();
  signal_ = process.pending_signal();
}

void ShadowStack::After(TracedProcess& process) {
  const unwind::Registers registers = process.registers();
  const std::uint64_t stack_pointer = registers[unwind::kRsp];
  if (signal_ != 0) {
    // The kernel pushed the interrupted address, and the handler's return address.
    entries_.push_back({.slot = stack_pointer_ - 1, .address = instruction_pointer_});
    entries_.push_back({.slot = stack_pointer, .address = process.Word(stack_pointer)});
    return;
  }
  if (IsCall(instruction_) && stack_pointer == stack_pointer_ - sizeof(std::uint64_t)) {
    entries_.push_back({.slot = stack_pointer, .address = process.Word(stack_pointer)});
    return;
  }
  while (!entries_.empty() && entries_.back().slot < stack_pointer) entries_.pop_back();
}

void ShadowStack::StartFrom(const std::vector<std::uint64_t>& return_addresses,
                            TracedProcess& process) {
  entries_.clear();
  std::uint64_t slot = process.stack_pointer();
  for (const std::uint64_t address : return_addresses) {
    while (process.Word(slot) != address) slot += sizeof slot;
    entries_.insert(entries_.begin(), {.slot = slot, .address = address});
    slot += sizeof slot;
  }
}

std::vector<std::uint64_t> ShadowStack::Addresses(TracedProcess& process) const {
  std::vector<std::uint64_t> addresses;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    addresses.push_back(entry->slot % 2 == 0 ? process.Word(entry->slot) : entry->address);
  }
  return addresses;
}

}  // namespace fieldcost::testing
