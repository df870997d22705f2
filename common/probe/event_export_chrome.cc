// ToChromeJson(): processes, threads and lines with bars for events and their steps.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "common/base/json_writer.h"
#include "common/probe/event_export.h"
#include "common/probe/event_export_view.h"
#include "common/probe/value_names.h"

namespace fieldcost::probe {
namespace {

// Linux thread ids are less than this.
constexpr std::uint64_t kThreads = std::uint64_t{1} << 22;
constexpr std::uint64_t kEventsThread = std::uint64_t{1} << 32;  // stands for the line "events"

// A bar on a line of a process.
struct Bar {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;
  const Event* event = nullptr;
  const EventHit* hit = nullptr;  // for a step; null for an event
};

class Chrome {
 public:
  explicit Chrome(std::span<const Event> events);
  std::string Json();

 private:
  void Bars();
  void PutBars();
  void PutInstants();
  void PutNames();
  void PutName(std::string_view what, std::uint64_t process, std::uint64_t thread,
               std::string_view untrusted_name);
  void Open(std::string_view untrusted_name, std::string_view what, std::string_view phase,
            std::uint64_t process, std::uint64_t thread, std::uint64_t ns);
  void HitArguments(const EventHit& hit);
  // Returns the number of a free line of the bar's thread, and occupies it.
  std::uint64_t LineOf(const Bar& bar);
  std::uint64_t ProcessOf(const RunKey& run) const {
    return 1 + static_cast<std::uint64_t>(std::distance(runs_.begin(), runs_.find(run)));
  }

  std::span<const Event> events_;
  std::map<RunKey, RunOf> runs_;
  std::uint64_t begin_ns_ = 0;
  std::vector<Bar> bars_;
  struct Line {
    std::uint64_t number = 0;  // readers support 32 bits
    std::uint64_t end_ns = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Line>> lines_;  // of each thread
  std::map<std::uint64_t, std::uint64_t> next_line_;  // per process, above all thread ids
  JsonWriter json_;
};

Chrome::Chrome(std::span<const Event> events) : events_(events), runs_(RunsOf(events)) {
  begin_ns_ = std::numeric_limits<std::uint64_t>::max();
  for (const Event& event : events) {
    begin_ns_ = std::min(begin_ns_, BoundsOf(event).begin_ns);
    for (const EventHit& hit : event.hits) begin_ns_ = std::min(begin_ns_, hit.ns);
  }
  if (events.empty()) begin_ns_ = 0;
}

void Chrome::Bars() {
  for (const Event& event : events_) {
    const EventBounds bounds = BoundsOf(event);
    bars_.push_back({.process = ProcessOf(OwnRunOf(event)),
                     .thread = kEventsThread,
                     .begin_ns = bounds.begin_ns,
                     .end_ns = bounds.end_ns,
                     .name = event.row.label.empty() ? "event" : event.row.label,
                     .event = &event});
    for (const StepSpan& span : SpansOf(event)) {
      const EventHit& hit = event.hits[span.step.hit];
      bars_.push_back({.process = ProcessOf(RunKeyOf(event, hit)),
                       .thread = hit.thread,
                       .begin_ns = span.begin_ns,
                       .end_ns = span.end_ns,
                       .name = span.step.name,
                       .event = &event,
                       .hit = &hit});
    }
  }
  std::ranges::stable_sort(bars_, {}, [](const Bar& bar) {
    return std::tuple(bar.process, bar.thread, bar.begin_ns, bar.end_ns);
  });
}

std::uint64_t Chrome::LineOf(const Bar& bar) {
  std::vector<Line>& lines = lines_[{bar.process, bar.thread}];
  for (Line& line : lines) {
    if (line.end_ns > bar.begin_ns) continue;
    line.end_ns = bar.end_ns;
    return line.number;
  }
  const bool is_own = lines.empty() && bar.thread != kEventsThread;
  const std::uint64_t number = is_own ? bar.thread : kThreads + next_line_[bar.process]++;
  lines.push_back({number, bar.end_ns});
  return number;
}

void Chrome::Open(std::string_view untrusted_name, std::string_view what, std::string_view phase,
                  std::uint64_t process, std::uint64_t thread, std::uint64_t ns) {
  json_.Object().Key("name").Text(untrusted_name).Key("cat").Text(what);
  json_.Key("ph").Text(phase).Key("pid").Number(process);
  json_.Key("tid").Number(thread).Key("ts").Microseconds(ns - begin_ns_);
}

void Chrome::HitArguments(const EventHit& hit) {
  const auto text = [&](std::string_view key, std::string_view untrusted_value) {
    if (!untrusted_value.empty()) json_.Key(key).Text(untrusted_value);
  };
  text("function", hit.site.function);
  text("file", hit.site.file);
  if (hit.site.line != 0) json_.Key("line").Number(hit.site.line);
  if (hit.value) json_.Key("value").NumberText(*hit.value);
  text("stack", StackText(hit));
}

void Chrome::PutBars() {
  for (const Bar& bar : bars_) {
    Open(bar.name, bar.hit == nullptr ? "event" : "step", "X", bar.process, LineOf(bar),
         bar.begin_ns);
    json_.Key("dur").Microseconds(bar.end_ns - bar.begin_ns);
    json_.Key("args").Object().Key("event").Text(bar.event->row.id.Hex());
    if (bar.hit != nullptr) {
      HitArguments(*bar.hit);
    } else if (!bar.event->row.tags.empty()) {
      json_.Key("tags").Array();
      for (const std::string& tag : bar.event->row.tags) json_.Text(tag);
      json_.EndArray();
    }
    json_.EndObject().EndObject();
  }
}

void Chrome::PutInstants() {
  for (const Event& event : events_) {
    for (const EventHit& hit : event.hits) {
      Open(hit.site.label, "point", "i", ProcessOf(RunKeyOf(event, hit)), hit.thread, hit.ns);
      json_.Key("s").Text("t").Key("args").Object();
      json_.Key("event").Text(event.row.id.Hex()).Key("kind").Text(Name(hit.kind));
      HitArguments(hit);
      json_.EndObject().EndObject();
    }
  }
}

void Chrome::PutName(std::string_view what, std::uint64_t process, std::uint64_t thread,
                     std::string_view untrusted_name) {
  json_.Object().Key("name").Text(what).Key("ph").Text("M");
  json_.Key("pid").Number(process).Key("tid").Number(thread);
  json_.Key("args").Object().Key("name").Text(untrusted_name).EndObject().EndObject();
}

void Chrome::PutNames() {
  for (const auto& [key, run] : runs_) {
    PutName("process_name", ProcessOf(key), 0,
            fmt::format("{}{}{} [{:016x}]", run.program, run.build.empty() ? "" : " ", run.build,
                        key.run));
  }
  for (const auto& [place, lines] : lines_) {
    const auto& [process, thread] = place;
    for (std::size_t line = 0; line < lines.size(); ++line) {
      std::string name = thread == kEventsThread ? "events" : fmt::format("thread {}", thread);
      if (line != 0) name += fmt::format(" ({})", line + 1);
      PutName("thread_name", process, lines[line].number, name);
    }
  }
}

std::string Chrome::Json() {
  json_.Object().Key("displayTimeUnit").Text("ns");
  json_.Key("otherData").Object().Key("begin_unix_ns").NumberText(begin_ns_).EndObject();
  json_.Key("traceEvents").Array();
  Bars();
  PutBars();
  PutInstants();
  PutNames();
  json_.EndArray().EndObject();
  return json_.Take();
}

}  // namespace

std::string ToChromeJson(std::span<const Event> events) { return Chrome(events).Json(); }

}  // namespace fieldcost::probe
