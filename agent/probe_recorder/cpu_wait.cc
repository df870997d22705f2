#include "agent/probe_recorder/cpu_wait.h"

#include <fmt/format.h>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMaxStatBytes = 4096;

std::string TextOf(std::uint32_t pid, const char* name) {
  return ReadFile(fmt::format("/proc/{}/{}", pid, name), kMaxStatBytes).value_or("");
}

}  // namespace

std::optional<std::uint64_t> ParseWaitedNs(std::string_view untrusted_schedstat) {
  const std::size_t first = untrusted_schedstat.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view rest = untrusted_schedstat.substr(first + 1);
  return ParseUint64(rest.substr(0, rest.find(' ')));
}

bool IsZombie(std::string_view untrusted_stat) {
  const std::size_t name_end = untrusted_stat.rfind(')');
  return name_end != std::string_view::npos && untrusted_stat.substr(name_end).starts_with(") Z");
}

bool IsEndedChild(std::uint32_t pid) { return IsZombie(TextOf(pid, "stat")); }

std::optional<RunBatch::CpuWait> CpuWaitOf(const RunFacts& facts, std::uint64_t now_unix_ns) {
  const auto waited = ParseWaitedNs(TextOf(facts.pid, "schedstat"));
  if (!waited || now_unix_ns <= facts.process_start_unix_ns) return std::nullopt;
  return RunBatch::CpuWait{.waited_ns = *waited,
                           .observed_ns = now_unix_ns - facts.process_start_unix_ns};
}

}  // namespace fieldcost::probe
