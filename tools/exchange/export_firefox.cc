// Writes Firefox Profiler's processed profiles: tables that refer to each other by index, with one
// thread per metric, or per thread and metric.
#include <fmt/format.h>

#include <initializer_list>
#include <limits>
#include <map>
#include <type_traits>

#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {
namespace {

// The version of Firefox Profiler's processed format; newer profilers convert older versions.
constexpr int kProcessedVersion = 62;

// Deduplicated strings by number.
class Strings {
 public:
  std::size_t Add(const std::string& text) {
    const auto [place, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(&place->first);
    return place->second;
  }
  void Write(JsonWriter& json) const {
    json.Array();
    for (const std::string* text : texts_) json.Text(*text);
    json.EndArray();
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<const std::string*> texts_;
};

// Writes a column of a table: the same value in all rows, or what a function returns or writes for
// each row.
template <typename Row>
void WriteColumn(std::string_view name, std::size_t count, const Row& row, JsonWriter& json) {
  json.Key(name).Array();
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (!std::is_invocable_v<Row, std::size_t>) {
      json.Any(row);
    } else if constexpr (std::is_void_v<std::invoke_result_t<Row, std::size_t>>) {
      row(i);
    } else {
      json.Any(row(i));
    }
  }
  json.EndArray().NewLine();
}

// Ends a table with the number of its rows.
void EndTable(std::size_t count, JsonWriter& json) {
  json.Member("length", count).EndObject().NewLine();
}

// A table without rows.
void WriteEmptyTable(std::initializer_list<std::string_view> columns, JsonWriter& json) {
  json.Object();
  for (const std::string_view column : columns) json.Key(column).Array().EndArray();
  json.Member("length", 0).EndObject();
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

  void WriteLibraries(JsonWriter& json) const {
    json.Array();
    for (const std::string& module : modules_) {
      const std::string name = EscapeControl(module);
      json.Object();
      for (const char* key : {"name", "path", "debugName", "debugPath"}) json.Member(key, name);
      json.Member("breakpadId", "").Member("codeId", nullptr).Member("arch", nullptr).EndObject();
    }
    json.EndArray();
  }

  void WriteShared(JsonWriter& json) const {
    json.Object();
    WriteStacks(json);
    WriteFrames(json);
    WriteFunctions(json);
    WriteResources(json);
    json.Key("nativeSymbols");
    WriteEmptyTable({"address", "functionSize", "libIndex", "name"}, json);
    json.NewLine().Key("sources");
    WriteEmptyTable({"id", "filename", "startLine", "startColumn", "sourceMapURL"}, json);
    json.NewLine().Key("stringArray");
    strings_.Write(json);
    json.EndObject();
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

  void WriteStacks(JsonWriter& json) const {
    const std::vector<ExportView::Node>& nodes = view_.nodes();
    const std::size_t count = nodes.size() - 1;  // the root has no frame
    json.Key("stackTable").Object();
    WriteColumn(
        "frame", count, [&](std::size_t i) { return nodes[i + 1].frame; }, json);
    WriteColumn(
        "prefix", count,
        [&](std::size_t i) {
          const std::uint32_t parent = nodes[i + 1].parent;
          const bool is_first = parent == view_.groups()[nodes[i + 1].group].root || parent == 0;
          if (is_first) {
            json.Null();
          } else {
            json.Number(parent - 1);
          }
        },
        json);
    EndTable(count, json);
  }

  void WriteFrames(JsonWriter& json) const {
    const std::size_t count = view_.frames().size();
    json.Key("frameTable").Object();
    WriteColumn("address", count, -1, json);
    WriteColumn("inlineDepth", count, 0, json);
    WriteColumn("category", count, 0, json);
    WriteColumn("subcategory", count, 0, json);
    WriteColumn(
        "func", count, [](std::size_t i) { return i; }, json);
    WriteColumn("nativeSymbol", count, nullptr, json);
    WriteColumn("innerWindowID", count, 0, json);
    WriteColumn("line", count, nullptr, json);
    WriteColumn("column", count, nullptr, json);
    EndTable(count, json);
  }

  void WriteFunctions(JsonWriter& json) const {
    const std::size_t count = view_.frames().size();
    json.Key("funcTable").Object();
    WriteColumn(
        "name", count, [&](std::size_t i) { return names_[i]; }, json);
    WriteColumn("isJS", count, false, json);
    WriteColumn("relevantForJS", count, false, json);
    WriteColumn(
        "resource", count, [&](std::size_t i) { return resources_[i]; }, json);
    WriteColumn("source", count, nullptr, json);
    WriteColumn("lineNumber", count, nullptr, json);
    WriteColumn("columnNumber", count, nullptr, json);
    EndTable(count, json);
  }

  void WriteResources(JsonWriter& json) const {
    const std::size_t count = modules_.size();
    json.Key("resourceTable").Object();
    WriteColumn(
        "lib", count, [](std::size_t i) { return i; }, json);
    WriteColumn(
        "name", count, [&](std::size_t i) { return module_names_[i]; }, json);
    WriteColumn("host", count, nullptr, json);
    WriteColumn("type", count, 1, json);  // a library
    EndTable(count, json);
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
void WriteIdentity(const ExportView& view, std::size_t metric, const recording::ThreadFrame& of,
                   JsonWriter& json) {
  const std::string text = MetricText(view.metrics()[metric]);
  const auto members = [&json](const std::string& name, const std::string& process, bool is_main,
                               const std::string& pid, const std::string& tid) {
    json.Member("name", EscapeControl(name)).Member("processName", EscapeControl(process));
    json.Member("isMainThread", is_main);
    json.Member("pid", EscapeControl(pid)).Member("tid", EscapeControl(tid));
  };
  if (!view.is_divided()) {
    const std::string number = std::to_string(metric + 1);
    members(text, "fieldcost", true, number, number);
    return;
  }
  const recording::Thread& thread = of.thread;
  // Without a number, processes with the same name are one.
  std::string process = thread.process.empty() ? "fieldcost" : thread.process;
  std::string pid = thread.pid == 0 ? process : std::to_string(thread.pid);
  if (metric != MainMetric(view.metrics())) pid += fmt::format(".{}", metric + 1);
  members(of.label.empty() ? text : fmt::format("{} {}", of.label, text),
          fmt::format("{}: {}", process, text), thread.pid != 0 && thread.tid == thread.pid, pid,
          thread.tid == 0 ? of.label : std::to_string(thread.tid));
}

// Consecutive samples of these nodes, each as long as its weight, the self cost of the node.
void WriteSamples(const ExportView::Group& group, const std::vector<std::size_t>& nodes,
                  const std::vector<std::uint64_t>& self, tree::Unit unit, JsonWriter& json) {
  const bool is_time = unit == tree::Unit::kNanoseconds;
  const auto weight = [&](std::size_t i) {
    if (is_time) {
      json.Milliseconds(self[nodes[i]]);
    } else {
      json.Number(self[nodes[i]]);
    }
  };
  json.NewLine().Key("samples").Object();
  WriteColumn(
      "stack", nodes.size(),
      [&](std::size_t i) {
        const bool is_of_no_path = nodes[i] == 0 || nodes[i] == group.root;
        if (is_of_no_path) {
          json.Null();
        } else {
          json.Number(nodes[i] - 1);
        }
      },
      json);
  WriteColumn(
      "timeDeltas", nodes.size(),
      [&](std::size_t i) {
        if (i != 0 && is_time) {
          weight(i - 1);
        } else {
          json.Number(i == 0 ? 0 : 1);
        }
      },
      json);
  WriteColumn("weight", nodes.size(), weight, json);
  json.Member("weightType", is_time                      ? "tracing-ms"
                            : unit == tree::Unit::kBytes ? "bytes"
                                                         : "samples");
  EndTable(nodes.size(), json);
}

// A thread for the group and metric, with one sample per path that has a self cost. Empty if there
// is none, unless the group is the first, which keeps the metric.
Status WriteThread(const ExportView& view, std::size_t metric, std::size_t group_number,
                   const std::vector<std::uint64_t>& self, JsonWriter& json) {
  const ExportView::Group& group = view.groups()[group_number];
  std::vector<std::size_t> nodes;
  for (const std::uint32_t node : group.nodes) {
    if (self[node] != 0) nodes.push_back(node);
  }
  if (nodes.empty() && group_number != view.first_group()) return {};
  // Required members of each thread.
  json.NewLine().Object().Member("processType", "default").Member("processStartupTime", 0);
  json.Member("processShutdownTime", nullptr).Member("registerTime", 0);
  json.Member("unregisterTime", nullptr).Key("pausedRanges").Array().EndArray();
  json.Member("showMarkersInTimeline", false);
  WriteIdentity(view, metric, group.thread, json);
  WriteSamples(group, nodes, self, view.metrics()[metric].unit, json);
  json.Key("markers");
  WriteEmptyTable({"data", "name", "startTime", "endTime", "phase", "category"}, json);
  json.EndObject();
  if (json.size() <= kMaxExportBytes) return {};
  return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
}

void WriteMeta(const std::string& title, JsonWriter& json) {
  json.Object().Member("version", 24).Member("preprocessedProfileVersion", kProcessedVersion);
  json.Member("product", title.empty() ? "fieldcost" : EscapeControl(title)).Member("interval", 1);
  json.Member("startTime", 0).Member("processType", 0).Member("stackwalk", 1);
  json.Member("debug", false).Member("symbolicated", true);
  json.Member("sourceCodeIsNotOnSearchfox", true).Member("usesOnlyOneStackType", true);
  json.Key("pausedRanges").Array().EndArray().Key("categories").Array().Object();
  json.Member("name", "Other").Member("color", "grey").Key("subcategories").Array().Text("Other");
  json.EndArray().EndObject().EndArray().Key("extensions");
  WriteEmptyTable({"baseURL", "id", "name"}, json);
  json.Key("markerSchema").Array().EndArray().Key("sampleUnits").Object().Member("time", "ms");
  json.Member("eventDelay", "ms").Member("threadCPUDelta", "ns").EndObject().EndObject();
}

}  // namespace

Result<std::string> ExportFirefox(const ExportView& view, const std::string& title) {
  const Tables tables(view);
  JsonWriter json;
  json.Object().Key("meta");
  WriteMeta(title, json);
  json.NewLine().Key("libs");
  tables.WriteLibraries(json);
  json.NewLine();
  for (const char* key : {"pages", "counters", "profilerOverhead"})
    json.Key(key).Array().EndArray();
  json.NewLine().Key("shared");
  tables.WriteShared(json);
  json.NewLine().Key("threads").Array();
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_ASSIGN(const std::vector<std::uint64_t> self,
                     view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
    for (std::size_t group = view.first_group(); group < view.groups().size(); ++group) {
      FIELDCOST_TRY(WriteThread(view, metric, group, self, json));
    }
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fieldcost::exchange
