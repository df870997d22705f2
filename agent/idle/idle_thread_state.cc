#include "agent/idle/idle_thread_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "agent/perf/process_threads.h"
#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::size_t kMostTextBytes = 8192;
constexpr std::string_view kEnded = "ZX";
constexpr std::size_t kStartColumn = 19;  // counted from the state's column
constexpr std::size_t kCpuColumn = 36;
constexpr std::size_t kRunsColumn = 2;
constexpr std::string_view kLastRun = "se.exec_start";
constexpr std::size_t kFractionDigits = 6;  // of a value in milliseconds

std::optional<std::string_view> StateColumn(std::string_view line, std::size_t column) {
  for (; column > 0; --column) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    line.remove_prefix(blank + 1);
  }
  return Trim(line.substr(0, line.find(' ')));
}

std::optional<std::uint64_t> Number(std::string_view line, std::size_t column) {
  const auto word = StateColumn(line, column);
  return word ? ParseUint64(*word) : std::nullopt;
}

// "se.exec_start   :   66642155.124025"
std::uint64_t ParseLastRun(std::string_view text) {
  const std::size_t begin = text.find(kLastRun);
  if (begin == std::string_view::npos) return 0;
  text.remove_prefix(begin + kLastRun.size());
  text = Trim(text.substr(0, text.find('\n')), " :\t");
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 1 + kFractionDigits) return 0;
  const std::string digits = fmt::format("{}{}", text.substr(0, point), text.substr(point + 1));
  return ParseUint64(digits).value_or(0);
}

std::string ReadText(const std::string& path) {
  std::array<char, kMostTextBytes> buffer;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = file.valid() ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace

std::optional<ThreadState> ParseThreadState(std::string_view untrusted_stat,
                                            std::string_view untrusted_schedstat,
                                            std::string_view untrusted_sched) {
  const std::string_view columns = perf::StatFromState(untrusted_stat);
  const auto state = StateColumn(columns, 0);
  const auto cpu = Number(columns, kCpuColumn);
  const auto runs = Number(untrusted_schedstat, kRunsColumn);
  if (!state || state->size() != 1 || kEnded.find(*state) != std::string_view::npos || !cpu ||
      !runs)
    return std::nullopt;
  if (*cpu > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return ThreadState{.waits = perf::IsWaitingState(state->front()),
                     .cpu = static_cast<std::uint32_t>(*cpu),
                     .runs = *runs,
                     .last_ns = ParseLastRun(untrusted_sched)};
}

std::vector<ThreadState> StatesOf(pid_t pid) {
  std::vector<ThreadState> states;
  for (const pid_t tid : perf::ThreadsOf(pid)) {
    const std::string path = fmt::format("/proc/{}/task/{}/", pid, tid);
    auto state = ParseThreadState(ReadText(path + "stat"), ReadText(path + "schedstat"),
                                  ReadText(path + "sched"));
    if (!state) continue;
    state->pid = pid;
    state->tid = tid;
    states.push_back(*state);
  }
  return states;
}

std::optional<std::uint64_t> StartOf(pid_t pid, pid_t tid) {
  const std::string text = ReadText(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  return Number(perf::StatFromState(text), kStartColumn);
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t tid : perf::ThreadsOf(pid)) {
    const std::string text = ReadText(fmt::format("/proc/{}/task/{}/children", pid, tid));
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (const auto child = ParseUint64(rest.substr(0, end)))
        children.push_back(static_cast<pid_t>(*child));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return children;
}

}  // namespace fieldcost::idle_agent
