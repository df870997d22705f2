// Writes speedscope's file format: one sampled profile per metric, one sample per path with a cost.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/base/json_writer.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {
namespace {

std::string_view SpeedscopeUnit(tree::Unit unit) {
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

void WriteFrame(const tree::Frame& frame, JsonWriter& json) {
  json.Object().Member("name", FrameText(frame));
  if (!frame.file.empty()) json.Member("file", NameText(frame.file));
  json.EndObject();
}

// The innermost frame is written last.
void WriteStack(const ExportView& view, std::size_t node, JsonWriter& json) {
  std::vector<std::uint32_t> frames;
  const std::uint32_t root = view.groups()[view.nodes()[node].group].root;
  for (; node != root; node = view.nodes()[node].parent) {
    frames.push_back(view.nodes()[node].frame);
  }
  std::ranges::reverse(frames);
  json.Array();
  for (const std::uint32_t frame : frames) json.Number(frame);
  json.EndArray();
}

// The profile's name. If profiles are divided by thread, also the thread, in members that other
// tools ignore.
void WriteName(const ExportView& view, std::size_t metric, const recording::ThreadFrame& of,
               JsonWriter& json) {
  const std::string text = MetricText(view.metrics()[metric]);
  if (!view.is_divided()) {
    json.Member("name", text);
    return;
  }
  json.Member("name", of.label.empty() ? text : NameText(of.label) + " " + text);
  json.Member("metric", text).Key("thread").Object();
  json.Member("process", NameText(of.thread.process)).Member("pid", of.thread.pid);
  json.Member("name", NameText(of.thread.name)).Member("tid", of.thread.tid).EndObject();
}

// Writes one group. Omits a group without a cost, unless `is_first`, which keeps the metric.
Status WriteProfile(const ExportView& view, std::size_t metric, std::size_t group, bool is_first,
                    const std::vector<std::uint64_t>& self, JsonWriter& json) {
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
  json.NewLine().Object().Member("type", "sampled");
  WriteName(view, metric, view.groups()[group].thread, json);
  json.Member("unit", SpeedscopeUnit(view.metrics()[metric].unit)).Member("startValue", 0);
  json.Member("endValue", total).NewLine().Key("samples").Array();
  for (const std::size_t node : nodes) {
    WriteStack(view, node, json);
    if (json.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  json.EndArray().NewLine().Key("weights").Array();
  for (const std::size_t node : nodes) json.Number(self[node]);
  json.EndArray().EndObject();
  if (json.size() <= kMaxExportBytes) return {};
  return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
}

}  // namespace

Result<std::string> ExportSpeedscope(const ExportView& view, const std::string& title) {
  JsonWriter json;
  json.Object().Member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.Member("exporter", "fieldcost");
  json.Member("name", title.empty() ? "fieldcost" : NameText(title));
  json.Member("activeProfileIndex", MainMetric(view.metrics()));
  json.NewLine().Key("shared").Object().Key("frames").Array();
  for (const tree::Frame* frame : view.frames()) WriteFrame(*frame, json);
  json.EndArray().EndObject().NewLine().Key("profiles").Array();
  std::vector<std::vector<std::uint64_t>> sums;  // [metric]
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_ASSIGN(std::vector<std::uint64_t> self,
                     view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
    sums.push_back(std::move(self));
  }
  for (std::size_t group = view.first_group(); group < view.groups().size(); ++group) {
    const bool is_first = group == view.first_group();
    for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
      FIELDCOST_TRY(WriteProfile(view, metric, group, is_first, sums[metric], json));
    }
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fieldcost::exchange
