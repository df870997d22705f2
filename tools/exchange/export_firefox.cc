// Writes Firefox Profiler's processed profiles: tables that refer to each other by index, with one
// thread per metric, or per thread and metric.
#include <fmt/format.h>

#include <limits>
#include <map>

#include "common/base/text.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/json_array.h"

namespace fieldcost::exchange {
namespace {

// The version of Firefox Profiler's processed format; newer profilers convert older versions.
constexpr int kProcessedVersion = 62;
constexpr unsigned kDecimals = 6;  // for ns in ms

// Deduplicated strings by number.
class Strings {
 public:
  std::size_t Add(const std::string& text) {
    const auto [place, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(&place->first);
    return place->second;
  }
  std::string Json() const {
    std::string json;
    AppendArray(
        texts_.size(), [&](std::size_t i) { return QuoteJson(*texts_[i]); }, json);
    return json;
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<const std::string*> texts_;
};

void AppendColumn(std::string_view name, std::size_t count, std::string_view value,
                  std::string& json) {
  json += fmt::format("\"{}\":", name);
  AppendArray(
      count, [&](std::size_t) { return value; }, json);
  json += ",\n";
}

template <typename Text>
void AppendColumn(std::string_view name, std::size_t count, const Text& text,
                  std::string& json) requires std::is_invocable_v<Text, std::size_t> {
  json += fmt::format("\"{}\":", name);
  AppendArray(count, text, json);
  json += ",\n";
}

// The tables shared by all threads: one frame and function per frame of ours, one resource (and
// library) per module, one stack per path.
class Tables {
 public:
  explicit Tables(const ExportView& view) : view_(view) {
    for (const tree::Frame* frame : view.frames()) {
      names_.push_back(strings_.Add(NameOf(*frame)));
      resources_.push_back(ResourceOf(frame->module));
    }
  }

  std::string Libraries() const {
    std::string json;
    AppendArray(
        modules_.size(),
        [&](std::size_t i) {
          const std::string name = QuoteJson(EscapeControl(modules_[i]));
          return fmt::format(
              "{{\"name\":{0},\"path\":{0},\"debugName\":{0},\"debugPath\":{0},"
              "\"breakpadId\":\"\",\"codeId\":null,\"arch\":null}}",
              name);
        },
        json);
    return json;
  }

  std::string Shared() const {
    std::string json = "{";
    AppendStacks(json);
    AppendFrames(json);
    AppendFunctions(json);
    AppendResources(json);
    json +=
        "\"nativeSymbols\":{\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[],"
        "\"length\":0},\n"
        "\"sources\":{\"id\":[],\"filename\":[],\"startLine\":[],\"startColumn\":[],"
        "\"sourceMapURL\":[],\"length\":0},\n";
    return json + "\"stringArray\":" + strings_.Json() + "}";
  }

 private:
  // The module is stored separately.
  static std::string NameOf(const tree::Frame& frame) {
    tree::Frame function = frame;
    if (frame.kind != tree::FrameKind::kSpecial) function.module.clear();
    return EscapeControl(frame.function.empty() ? FrameText(function) : frame.function);
  }

  int ResourceOf(const std::string& module) {
    if (module.empty()) return -1;
    const auto [place, is_new] = places_.try_emplace(module, static_cast<int>(modules_.size()));
    if (is_new) {
      modules_.push_back(module);
      module_names_.push_back(strings_.Add(EscapeControl(module)));
    }
    return place->second;
  }

  void AppendStacks(std::string& json) const {
    const std::vector<ExportView::Node>& nodes = view_.nodes();
    const std::size_t count = nodes.size() - 1;  // the root has no frame
    json += "\"stackTable\":{";
    AppendColumn(
        "frame", count, [&](std::size_t i) { return std::to_string(nodes[i + 1].frame); }, json);
    AppendColumn(
        "prefix", count,
        [&](std::size_t i) {
          const std::uint32_t parent = nodes[i + 1].parent;
          const bool is_first = parent == view_.groups()[nodes[i + 1].group].root || parent == 0;
          return is_first ? std::string("null") : std::to_string(parent - 1);
        },
        json);
    json += fmt::format("\"length\":{}}},\n", count);
  }

  void AppendFrames(std::string& json) const {
    const std::size_t count = view_.frames().size();
    json += "\"frameTable\":{";
    AppendColumn("address", count, "-1", json);
    AppendColumn("inlineDepth", count, "0", json);
    AppendColumn("category", count, "0", json);
    AppendColumn("subcategory", count, "0", json);
    AppendColumn(
        "func", count, [](std::size_t i) { return std::to_string(i); }, json);
    AppendColumn("nativeSymbol", count, "null", json);
    AppendColumn("innerWindowID", count, "0", json);
    AppendColumn("line", count, "null", json);
    AppendColumn("column", count, "null", json);
    json += fmt::format("\"length\":{}}},\n", count);
  }

  void AppendFunctions(std::string& json) const {
    const std::size_t count = view_.frames().size();
    json += "\"funcTable\":{";
    AppendColumn(
        "name", count, [&](std::size_t i) { return std::to_string(names_[i]); }, json);
    AppendColumn("isJS", count, "false", json);
    AppendColumn("relevantForJS", count, "false", json);
    AppendColumn(
        "resource", count, [&](std::size_t i) { return std::to_string(resources_[i]); }, json);
    AppendColumn("source", count, "null", json);
    AppendColumn("lineNumber", count, "null", json);
    AppendColumn("columnNumber", count, "null", json);
    json += fmt::format("\"length\":{}}},\n", count);
  }

  void AppendResources(std::string& json) const {
    const std::size_t count = modules_.size();
    json += "\"resourceTable\":{";
    AppendColumn(
        "lib", count, [](std::size_t i) { return std::to_string(i); }, json);
    AppendColumn(
        "name", count, [&](std::size_t i) { return std::to_string(module_names_[i]); }, json);
    AppendColumn("host", count, "null", json);
    AppendColumn("type", count, "1", json);  // a library
    json += fmt::format("\"length\":{}}},\n", count);
  }

  const ExportView& view_;
  Strings strings_;
  std::vector<std::size_t> names_;  // [frame]
  std::vector<int> resources_;      // [frame]
  std::map<std::string, int> places_;
  std::vector<std::string> modules_;
  std::vector<std::size_t> module_names_;
};

// The members that identify a thread. Threads with the same "pid" are shown together, below their
// main thread. The main metric uses the process's number, the others append their own.
std::string IdentityJson(const ExportView& view, std::size_t metric,
                         const recording::ThreadFrame& of) {
  const std::string text = MetricText(view.metrics()[metric]);
  const auto members = [](const std::string& name, const std::string& process, bool is_main,
                          const std::string& pid, const std::string& tid) {
    return fmt::format("\"name\":{},\"processName\":{},\"isMainThread\":{},\"pid\":{},\"tid\":{}",
                       QuoteJson(EscapeControl(name)), QuoteJson(EscapeControl(process)), is_main,
                       QuoteJson(EscapeControl(pid)), QuoteJson(EscapeControl(tid)));
  };
  if (!view.is_divided()) {
    const std::string number = std::to_string(metric + 1);
    return members(text, "fieldcost", true, number, number);
  }
  const recording::Thread& thread = of.thread;
  // Without a number, processes with the same name are one.
  std::string process = thread.process.empty() ? "fieldcost" : thread.process;
  std::string pid = thread.pid == 0 ? process : std::to_string(thread.pid);
  if (metric != MainMetric(view.metrics())) pid += fmt::format(".{}", metric + 1);
  return members(of.label.empty() ? text : fmt::format("{} {}", of.label, text),
                 fmt::format("{}: {}", process, text), thread.pid != 0 && thread.tid == thread.pid,
                 pid, thread.tid == 0 ? of.label : std::to_string(thread.tid));
}

// A thread for the group and metric, with one sample per path that has a self cost. Empty if there
// is none, unless `is_first`, which keeps the metric.
Status AppendThread(const ExportView& view, std::size_t metric, std::size_t group_number,
                    const std::vector<std::uint64_t>& self, std::string& json) {
  const ExportView::Group& group = view.groups()[group_number];
  const tree::Unit unit = view.metrics()[metric].unit;
  const bool is_time = unit == tree::Unit::kNanoseconds;
  std::vector<std::size_t> nodes;
  for (const std::uint32_t node : group.nodes) {
    if (self[node] != 0) nodes.push_back(node);
  }
  if (nodes.empty() && group_number != view.first_group()) return {};
  const auto weight = [&](std::size_t i) {
    return is_time ? DecimalText(self[nodes[i]], kDecimals) : std::to_string(self[nodes[i]]);
  };
  if (json.back() != '[') json += ',';
  // Required members of each thread.
  json += fmt::format(
      "\n{{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
      "\"showMarkersInTimeline\":false,{},\n\"samples\":{{",
      IdentityJson(view, metric, group.thread));
  // Consecutive samples, each as long as its weight.
  AppendColumn(
      "stack", nodes.size(),
      [&](std::size_t i) {
        const bool is_of_no_path = nodes[i] == 0 || nodes[i] == group.root;
        return is_of_no_path ? std::string("null") : std::to_string(nodes[i] - 1);
      },
      json);
  AppendColumn(
      "timeDeltas", nodes.size(),
      [&](std::size_t i) {
        if (i == 0) return std::string("0");
        return is_time ? weight(i - 1) : std::string("1");
      },
      json);
  AppendColumn("weight", nodes.size(), weight, json);
  // The type of the weights, and an empty table of markers.
  json += fmt::format(
      "\"weightType\":\"{}\",\"length\":{}}},\n"
      "\"markers\":{{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
      "\"category\":[],\"length\":0}}}}",
      is_time                      ? "tracing-ms"
      : unit == tree::Unit::kBytes ? "bytes"
                                   : "samples",
      nodes.size());
  if (json.size() <= kMaxExportBytes) return {};
  return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
}

}  // namespace

Result<std::string> ExportFirefox(const ExportView& view, const std::string& title) {
  const Tables tables(view);
  std::string json = fmt::format(
      "{{\"meta\":{{\"version\":24,\"preprocessedProfileVersion\":{},\"product\":{},\"interval\":1,"
      "\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,\"pausedRanges\":[],"
      "\"categories\":[{{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}],"
      "\"extensions\":{{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0}},\"markerSchema\":[],"
      "\"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}}}},\n",
      kProcessedVersion, QuoteJson(title.empty() ? "fieldcost" : EscapeControl(title)));
  json += "\"libs\":" + tables.Libraries() + ",\n\"pages\":[],\"counters\":[],";
  json += "\"profilerOverhead\":[],\n\"shared\":" + tables.Shared() + ",\n\"threads\":[";
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_ASSIGN(const std::vector<std::uint64_t> self,
                     view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
    for (std::size_t group = view.first_group(); group < view.groups().size(); ++group) {
      FIELDCOST_TRY(AppendThread(view, metric, group, self, json));
    }
  }
  json += "]}\n";
  return json;
}

}  // namespace fieldcost::exchange
