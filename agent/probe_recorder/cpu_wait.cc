#include "agent/probe_recorder/cpu_wait.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMaxStatBytes = 4096;

std::string TextOf(std::uint32_t pid, const char* name) {
  return ReadFile(fmt::format("/proc/{}/{}", pid, name), kMaxStatBytes).value_or("");
}

}  // namespace

std::optional<RunBatch::CpuWait> ParseCpuWait(std::string_view untrusted_schedstat) {
  const std::vector<std::string_view> words = Split(untrusted_schedstat, " ");
  if (words.size() < 2) return std::nullopt;
  const auto ran = ParseUint64(words[0]);
  const auto waited = ParseUint64(words[1]);
  std::uint64_t observed = 0;
  if (!ran || !waited || __builtin_add_overflow(*ran, *waited, &observed) || observed == 0) {
    return std::nullopt;
  }
  return RunBatch::CpuWait{.waited_ns = *waited, .observed_ns = observed};
}

bool IsZombie(std::string_view untrusted_stat) {
  const std::size_t name_end = untrusted_stat.rfind(')');
  return name_end != std::string_view::npos && untrusted_stat.substr(name_end).starts_with(") Z");
}

bool IsEndedChild(std::uint32_t pid) { return IsZombie(TextOf(pid, "stat")); }

std::optional<RunBatch::CpuWait> CpuWaitOf(std::uint32_t pid) {
  return ParseCpuWait(TextOf(pid, "schedstat"));
}

}  // namespace fieldcost::probe
