#include "agent/sampler/wait_stack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "common/base/file.h"
#include "common/unwind/memory.h"
#include "common/unwind/registers.h"

namespace fieldcost::sampler {
namespace {

constexpr std::size_t kMostTextBytes = 256;

// "0x7ffc…" at the end of the text, which is taken from it.
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

}  // namespace

// "35 0x… (six arguments) 0x…(stack pointer) 0x…(address)", "-1 0x… 0x…" outside of a system call,
// or "running".
std::optional<WaitPlace> ParseWaitPlace(std::string_view untrusted_text) {
  if (untrusted_text.ends_with('\n')) untrusted_text.remove_suffix(1);
  const auto address = TakeLastNumber(untrusted_text);
  const auto stack_pointer = address ? TakeLastNumber(untrusted_text) : std::nullopt;
  if (!stack_pointer) return std::nullopt;
  return WaitPlace{.stack_pointer = *stack_pointer, .address = *address};
}

bool ReadWaitStack(pid_t pid, pid_t tid, unwind::ModuleMap& map, unwind::Unwinder& unwinder,
                   unwind::Stack& stack) {
  const std::string path = fmt::format("/proc/{}/task/{}/syscall", pid, tid);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return false;
  std::array<char, kMostTextBytes> before{};
  std::array<char, kMostTextBytes> after{};
  const std::string_view text = ReadText(fd.get(), before);
  const auto place = ParseWaitPlace(text);
  if (!place) return false;
  unwind::Registers registers;
  registers.Set(unwind::kRsp, place->stack_pointer);
  registers.Set(unwind::kRip, place->address);
  unwind::ProcessMemory reader(pid);
  unwind::StackMemory memory(place->stack_pointer, {}, &reader,
                             unwind::StackMemory::Thread::kStopped);
  unwinder.Unwind(map, registers, memory, stack);
  return text == ReadText(fd.get(), after);
}

}  // namespace fieldcost::sampler
