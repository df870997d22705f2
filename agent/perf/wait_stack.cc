#include "agent/perf/wait_stack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/unwind/memory_reader.h"
#include "agent/unwind/registers.h"
#include "common/base/file.h"

namespace fieldcost::perf {
namespace {

constexpr std::size_t kMostTextBytes = 256;

// Parses "0x7ffc…" at the end of the text, and removes it.
std::optional<std::uint64_t> TakeLastNumber(std::string_view& text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::string_view word = text.substr(blank + 1);
  text = text.substr(0, blank);
  if (!word.starts_with("0x")) return std::nullopt;
  word.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, 16);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::string_view ReadText(int fd, std::array<char, kMostTextBytes>& buffer) {
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

// Returns where the thread waits if it waited at the same place before and after `look`.
template <typename Look>
std::optional<WaitPlace> WhileItWaits(pid_t pid, pid_t tid, const Look& look) {
  const std::string path = fmt::format("/proc/{}/task/{}/syscall", pid, tid);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::array<char, kMostTextBytes> before{};
  std::array<char, kMostTextBytes> after{};
  const std::string_view text = ReadText(fd.get(), before);
  const auto place = ParseWaitPlace(text);
  if (!place) return std::nullopt;
  look(*place);
  return text == ReadText(fd.get(), after) ? place : std::nullopt;
}

unwind::Registers RegistersAt(const WaitPlace& place) {
  unwind::Registers registers;
  registers.Set(unwind::kStackPointer, place.stack_pointer);
  registers.Set(unwind::kInstructionPointer, place.address);
  return registers;
}

}  // namespace

// The text is "35 0x… (six arguments) 0x…(stack pointer) 0x…(address)", "-1 0x… 0x…" outside a
// system call, or "running".
std::optional<WaitPlace> ParseWaitPlace(std::string_view untrusted_text) {
  if (untrusted_text.ends_with('\n')) untrusted_text.remove_suffix(1);
  const auto address = TakeLastNumber(untrusted_text);
  const auto stack_pointer = address ? TakeLastNumber(untrusted_text) : std::nullopt;
  if (!stack_pointer) return std::nullopt;
  std::int64_t system_call = 0;
  const char* const end = untrusted_text.data() + untrusted_text.size();
  const auto [rest, error] = std::from_chars(untrusted_text.data(), end, system_call);
  if (error != std::errc() || (rest != end && *rest != ' ')) return std::nullopt;
  return WaitPlace{.stack_pointer = *stack_pointer,
                   .address = *address,
                   .system_call = std::max<std::int64_t>(system_call, -1)};
}

std::optional<WaitPlace> ReadWaitStack(pid_t pid, pid_t tid, unwind::ModuleMap& map,
                                       unwind::Unwinder& unwinder, unwind::Stack& stack) {
  return WhileItWaits(pid, tid, [&](const WaitPlace& place) {
    const unwind::Registers registers = RegistersAt(place);
    unwind::ProcessMemory reader(pid);
    unwind::StackMemory memory(place.stack_pointer, {}, &reader,
                               unwind::StackMemory::Thread::kStopped);
    unwinder.Unwind(map, registers, memory, stack);
  });
}

std::optional<WaitCopy> CopyWaitStack(pid_t pid, pid_t tid, std::size_t most_bytes) {
  WaitCopy copy{.place = {}, .bytes = std::vector<std::uint8_t>(most_bytes)};
  const auto place = WhileItWaits(pid, tid, [&](const WaitPlace& at) {
    copy.bytes.resize(
        unwind::ProcessMemory(pid).Read(at.stack_pointer, copy.bytes.data(), copy.bytes.size()));
  });
  if (!place) return std::nullopt;
  copy.place = *place;
  return copy;
}

void UnwindCopy(const WaitCopy& copy, unwind::ModuleMap& map, unwind::Unwinder& unwinder,
                unwind::Stack& stack) {
  unwind::ProcessMemory rest(map.pid());
  unwind::StackMemory memory(copy.place.stack_pointer, copy.bytes, &rest);
  unwinder.Unwind(map, RegistersAt(copy.place), memory, stack);
}

}  // namespace fieldcost::perf
