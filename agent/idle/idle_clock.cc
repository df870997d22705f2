#include "agent/idle/idle_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/text.h"

namespace fieldcost::idle_agent {
namespace {

constexpr int kMostStates = 16;
constexpr std::uint64_t kNsOfMicrosecond = 1'000;
// The longest time that a thread needs from its wake-up until it runs on an idle CPU.
constexpr std::uint64_t kPromptNs = 20'000;
constexpr std::size_t kMostShortBytes = 128;
constexpr std::size_t kMostTableBytes = std::size_t{1} << 20;
constexpr std::size_t kRunTimeColumn = 6;  // after the CPU's name
constexpr std::size_t kRunDelayColumn = 1;

UniqueFd OpenToRead(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::vector<UniqueFd> OpenStates(std::uint32_t cpu) {
  std::vector<UniqueFd> files;
  for (int i = 0; i < kMostStates; ++i) {
    UniqueFd file =
        OpenToRead(fmt::format("/sys/devices/system/cpu/cpu{}/cpuidle/state{}/time", cpu, i));
    if (!file.valid()) break;
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<UniqueFd> OpenOne(const std::string& path) {
  std::vector<UniqueFd> files;
  if (UniqueFd file = OpenToRead(path); file.valid()) files.push_back(std::move(file));
  return files;
}

std::vector<UniqueFd> OpenFiles(IdleClock::Source source, std::uint32_t cpu,
                                const IdleClock::Options& options) {
  switch (source) {
    case IdleClock::Source::kStates:
      return OpenStates(cpu);
    case IdleClock::Source::kRunQueue:
      return OpenOne("/proc/schedstat");
    case IdleClock::Source::kPromptness:
      return OpenOne(options.run_delay);
  }
  return {};
}

// Reads the file from its beginning, at most `most` bytes.
bool ReadAll(int fd, std::size_t most, std::string& text) {
  text.resize(most);
  std::size_t filled = 0;
  while (filled < most) {
    const ssize_t got =
        ::pread(fd, text.data() + filled, most - filled, static_cast<off_t>(filled));
    if (got < 0) return false;
    filled += static_cast<std::size_t>(got);
    // The first call returns all of a short file.
    if (got == 0 || most == kMostShortBytes) break;
  }
  text.resize(filled);
  return true;
}

std::optional<std::uint64_t> Column(std::string_view line, std::size_t column) {
  for (; column > 0; --column) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    line.remove_prefix(blank + 1);
  }
  return ParseUint64(Trim(line.substr(0, line.find(' '))));
}

}  // namespace

std::optional<std::uint64_t> ParseRunTime(std::string_view untrusted_text, std::uint32_t cpu) {
  const std::string name = fmt::format("cpu{} ", cpu);
  while (!untrusted_text.empty()) {
    const std::size_t end = std::min(untrusted_text.find('\n'), untrusted_text.size());
    const std::string_view line = untrusted_text.substr(0, end);
    if (line.starts_with(name)) return Column(line.substr(name.size()), kRunTimeColumn);
    untrusted_text.remove_prefix(std::min(end + 1, untrusted_text.size()));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ParseRunDelay(std::string_view untrusted_text) {
  return Column(untrusted_text, kRunDelayColumn);
}

IdleClock::IdleClock(Source source, std::uint32_t cpu, const Options& options)
    : source_(source),
      cpu_(cpu),
      tick_ns_(options.tick_ns),
      files_(OpenFiles(source, cpu, options)) {
  if (source == Source::kPromptness) stat_ = OpenToRead(options.stat);
}

Result<IdleClock> IdleClock::Open(std::uint32_t cpu, const Options& options) {
  for (const Source source : {Source::kStates, Source::kRunQueue, Source::kPromptness}) {
    if (options.only && *options.only != source) continue;
    IdleClock clock(source, cpu, options);
    if (clock.Count() && (source != Source::kPromptness || clock.CountOfStat())) return clock;
  }
  return Fail(ErrorCode::kUnsupported,
              "determine how long CPU {} is idle: the kernel does not report it (in "
              "/sys/devices/system/cpu/cpu{}/cpuidle, /proc/schedstat or a thread's schedstat)",
              cpu, cpu);
}

std::optional<std::uint64_t> IdleClock::Count() {
  if (files_.empty()) return std::nullopt;
  if (source_ == Source::kRunQueue) {
    if (!ReadAll(files_[0].get(), kMostTableBytes, text_)) return std::nullopt;
    return ParseRunTime(text_, cpu_);
  }
  std::uint64_t sum = 0;
  for (const UniqueFd& file : files_) {
    if (!ReadAll(file.get(), kMostShortBytes, text_)) return std::nullopt;
    const auto value = source_ == Source::kStates ? ParseUint64(Trim(text_)) : ParseRunDelay(text_);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return source_ == Source::kStates ? sum * kNsOfMicrosecond : sum;
}

std::optional<std::uint64_t> IdleClock::CountOfStat() {
  if (!stat_.valid() || !ReadAll(stat_.get(), kMostTableBytes, text_)) return std::nullopt;
  const StatIdle all = ParseStatIdle(text_);
  const auto found = all.find(cpu_);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t IdleClock::Bounded(std::uint64_t idle_ns, std::uint64_t now_ns) {
  return bound_.Allow(idle_ns, now_ns, [this] { return CountOfStat(); });
}

std::uint64_t IdleClock::Read(std::uint64_t now_ns) {
  const auto count = Count();
  if (!count) return 0;
  const bool is_first = last_ns_ == 0;
  const std::uint64_t passed = now_ns - std::exchange(last_ns_, now_ns);
  const std::uint64_t counted = *count - std::min(*count, std::exchange(last_count_, *count));
  if (is_first) return source_ == Source::kPromptness ? Bounded(0, now_ns) : 0;
  switch (source_) {
    case Source::kStates:
      return std::min(counted, passed);
    case Source::kRunQueue:
      return passed - std::min(counted, passed);
    case Source::kPromptness:
      return counted <= kPromptNs ? Bounded(std::min(passed, tick_ns_), now_ns) : 0;
  }
  return 0;
}

}  // namespace fieldcost::idle_agent
