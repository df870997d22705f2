// Writes speedscope's file format: one sampled profile per metric, one sample per path with a cost.
#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/json_array.h"

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
  return fmt::format("{{\"name\":{},\"file\":{}}}", name, QuoteJson(NameText(frame.file)));
}

std::string StackJson(const ExportView& view, std::size_t node) {
  std::string stack;  // the innermost frame is written last
  const std::uint32_t root = view.groups()[view.nodes()[node].group].root;
  for (; node != root; node = view.nodes()[node].parent) {
    const std::string frame = std::to_string(view.nodes()[node].frame);
    stack.insert(0, stack.empty() ? frame : frame + ",");
  }
  return "[" + stack + "]";
}

// The profile's name. If profiles are divided by thread, also the thread, in members that other
// tools ignore.
std::string ProfileName(const ExportView& view, std::size_t metric,
                        const recording::ThreadFrame& of) {
  const std::string text = MetricText(view.metrics()[metric]);
  if (!view.is_divided()) return QuoteJson(text);
  return fmt::format(
      "{},\"metric\":{},\"thread\":{{\"process\":{},\"pid\":{},\"name\":{},\"tid\":{}}}",
      QuoteJson(of.label.empty() ? text : NameText(of.label) + " " + text), QuoteJson(text),
      QuoteJson(NameText(of.thread.process)), of.thread.pid, QuoteJson(NameText(of.thread.name)),
      of.thread.tid);
}

// Writes one group. Omits a group without a cost, unless `is_first`, which keeps the metric.
Status AppendProfile(const ExportView& view, std::size_t metric, std::size_t group, bool is_first,
                     const std::vector<std::uint64_t>& self, std::string& json) {
  std::vector<std::size_t> nodes;
  std::uint64_t total = 0;
  for (const std::uint32_t node : view.groups()[group].nodes) {
    if (self[node] == 0) continue;
    nodes.push_back(node);
    if (__builtin_add_overflow(total, self[node], &total)) {
      return Fail(ErrorCode::kTooLarge, "the {} exceed 2^64 - 1 together",
                  view.metrics()[metric].name);
    }
  }
  if (nodes.empty() && !is_first) return {};
  json += json.back() == '[' ? "\n" : ",\n";
  json += fmt::format(
      "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,"
      "\"endValue\":{},\n\"samples\":",
      ProfileName(view, metric, view.groups()[group].thread), UnitText(view.metrics()[metric].unit),
      total);
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
      QuoteJson(title.empty() ? "fieldcost" : NameText(title)), MainMetric(view.metrics()));
  AppendArray(
      view.frames().size(), [&](std::size_t i) { return FrameJson(*view.frames()[i]); }, json);
  json += "},\n\"profiles\":[";
  std::vector<std::vector<std::uint64_t>> sums;  // [metric]
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_ASSIGN(std::vector<std::uint64_t> self,
                     view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
    sums.push_back(std::move(self));
  }
  for (std::size_t group = view.first_group(); group < view.groups().size(); ++group) {
    const bool is_first = group == view.first_group();
    for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
      FIELDCOST_TRY(AppendProfile(view, metric, group, is_first, sums[metric], json));
    }
  }
  json += "]}\n";
  return json;
}

}  // namespace fieldcost::exchange
