// Writes speedscope's file format: a sampled profile for each metric, a sample for each path that
// costs something.
#include <fmt/format.h>

#include <limits>

#include "common/base/text.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/json_text.h"
#include "tools/exchange/limits.h"

namespace fieldcost::exchange {
namespace {

std::string_view UnitText(tree::Unit unit) {
  switch (unit) {
    case tree::Unit::kNanoseconds:
      return "nanoseconds";
    case tree::Unit::kBytes:
      return "bytes";
    case tree::Unit::kCount:
      break;
  }
  return "none";
}

std::string FrameJson(const tree::Frame& frame) {
  const std::string name = QuoteJson(FrameText(frame));
  if (frame.file.empty()) return fmt::format("{{\"name\":{}}}", name);
  return fmt::format("{{\"name\":{},\"file\":{}}}", name, QuoteJson(frame.file));
}

std::string StackJson(const ExportView& view, std::size_t node) {
  std::string stack;  // the innermost is written last
  for (; node != 0; node = view.nodes()[node].parent) {
    const std::string frame = std::to_string(view.nodes()[node].frame);
    stack.insert(0, stack.empty() ? frame : frame + ",");
  }
  return "[" + stack + "]";
}

Status AppendProfile(const ExportView& view, std::size_t metric, std::string& json) {
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> self,
                   view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
  std::vector<std::size_t> nodes;
  std::uint64_t total = 0;
  for (std::size_t node = 0; node < self.size(); ++node) {
    if (self[node] == 0) continue;
    nodes.push_back(node);
    if (__builtin_add_overflow(total, self[node], &total)) {
      return Fail(ErrorCode::kTooLarge, "the {} exceed 2^64 - 1 together",
                  view.metrics()[metric].name);
    }
  }
  json += fmt::format(
      "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,"
      "\"endValue\":{},\n\"samples\":",
      QuoteJson(MetricText(view.metrics()[metric])), UnitText(view.metrics()[metric].unit), total);
  json += '[';
  for (const std::size_t node : nodes) {
    if (json.back() != '[') json += ',';
    json += StackJson(view, node);
    if (json.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  json += ']';
  json += ",\n\"weights\":";
  AppendArray(
      nodes.size(), [&](std::size_t i) { return std::to_string(self[nodes[i]]); }, json);
  json += '}';
  if (json.size() <= kMaxExportBytes) return {};
  return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
}

}  // namespace

Result<std::string> ExportSpeedscope(const ExportView& view, const std::string& title) {
  std::string json = fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
      "\"fieldcost\",\"name\":{},\"activeProfileIndex\":{},\n\"shared\":{{\"frames\":",
      QuoteJson(title.empty() ? "fieldcost" : title), MainMetric(view.metrics()));
  AppendArray(
      view.frames().size(), [&](std::size_t i) { return FrameJson(*view.frames()[i]); }, json);
  json += "},\n\"profiles\":[";
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    json += metric == 0 ? "\n" : ",\n";
    FIELDCOST_TRY(AppendProfile(view, metric, json));
  }
  json += "]}\n";
  return json;
}

}  // namespace fieldcost::exchange
