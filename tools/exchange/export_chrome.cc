// Writes Chrome's trace events: an X event for each path, a process for each metric, since a tree
// has no time axis.
#include <fmt/format.h>

#include <limits>

#include "common/base/text.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/json_text.h"
#include "tools/exchange/limits.h"

namespace fieldcost::exchange {
namespace {

constexpr unsigned kDecimals = 3;  // of ns in us

// A process for the metric. Each path is one call, as long as its inclusive sum; what it calls
// stands at its begin, one behind the other.
Status AppendProcess(const ExportView& view, std::size_t metric,
                     const std::vector<std::string>& names, std::string& json) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> self, view.SelfSums(metric, kMost));
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> inclusive,
                   view.InclusiveSums(metric, self, kMost));
  const std::size_t process = metric + 1;
  json += fmt::format(
      "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":1,\"args\":"
      "{{\"name\":{}}}}}",
      process, QuoteJson(MetricText(view.metrics()[metric])));
  const auto append = [&](const std::string& name, std::uint64_t begin, std::uint64_t length) {
    json +=
        fmt::format(",\n{{\"name\":{},\"ph\":\"X\",\"ts\":{},\"dur\":{},\"pid\":{},\"tid\":1}}",
                    name, DecimalText(begin, kDecimals), DecimalText(length, kDecimals), process);
  };
  std::vector<std::uint64_t> next(self.size());  // where what a path calls next begins
  for (std::size_t node = 1; node < self.size(); ++node) {
    if (inclusive[node] == 0) continue;
    const ExportView::Node& place = view.nodes()[node];
    const std::uint64_t begin = next[place.parent];
    next[node] = begin;
    next[place.parent] += inclusive[node];
    append(names[place.frame], begin, inclusive[node]);
    if (json.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  // What belongs to no path.
  if (self[0] != 0) append(QuoteJson(tree::kCut), next[0], self[0]);
  return {};
}

}  // namespace

Result<std::string> ExportChrome(const ExportView& view) {
  std::vector<std::string> names;
  for (const tree::Frame* frame : view.frames()) names.push_back(QuoteJson(FrameText(*frame)));
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    if (metric != 0) json += ",\n";
    FIELDCOST_TRY(AppendProcess(view, metric, names, json));
  }
  json += "\n]}\n";
  return json;
}

}  // namespace fieldcost::exchange
