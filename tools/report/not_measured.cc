#include "tools/report/not_measured.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fieldcost::report {
namespace {

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> kReasons = {{
    {shm::kDiskInsideLibc,
     "libc reads or writes files by itself here (stdio, user database), without a call"},
    {shm::kReadMapped, "a library has mapped a file, which is read without a call"},
    {shm::kWrittenMapped, "a library has mapped a file, which is written to without a call"},
    {shm::kAllocInLoader, "it loads a library, and what the loader allocates is not seen"},
    {shm::kNetInsideLibc, "libc uses sockets by itself here (resolver, syslog), without a call"},
}};

}  // namespace

std::vector<NotMeasuredPart> NotMeasuredParts(const analysis::CostSummary& summary) {
  std::vector<NotMeasuredPart> parts;
  for (const auto& [reason, text] : kReasons) {
    if ((summary.not_measured & reason) == 0) continue;
    NotMeasuredPart part{.metrics = {}, .in_some_runs = true, .reason = text};
    const shm::MetricSet metrics = shm::MetricsNotMeasured(reason);
    for (unsigned number = 1; number <= shm::kMaxMetric; ++number) {
      const auto metric = static_cast<stats::Metric>(number);
      if ((shm::BitOf(metric) & metrics) == 0) continue;
      part.metrics.push_back(metric);
      if (summary.Find(metric) == nullptr) part.in_some_runs = false;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string Text(const NotMeasuredPart& part) {
  std::string text;
  for (const stats::Metric metric : part.metrics) {
    text += (text.empty() ? "" : ", ") + std::string(stats::Name(metric));
  }
  return text + (part.in_some_runs ? " in some runs: " : ": ") + std::string(part.reason);
}

}  // namespace fieldcost::report
