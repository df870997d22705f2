// ToOtlpJson(): one trace per event, with spans for its runs and steps.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/base/json_writer.h"
#include "common/probe/event_export.h"
#include "common/probe/event_export_view.h"
#include "common/probe/value_names.h"
#include "common/shm/mix.h"

namespace fieldcost::probe {
namespace {

constexpr char kScope[] = "fieldcost.probe";
constexpr std::uint64_t kInternal = 1;  // SPAN_KIND_INTERNAL
constexpr char kNoLabel[] = "event";

using shm::FinaliseBits;
using shm::MixBits;

// Ids of a trace's spans: distinct for each index (less than 2^32) and owner; never 0.
std::string SpanId(const EventKey& event, std::uint64_t index) {
  const std::uint64_t of_owner = FinaliseBits(event.owner);
  const std::uint64_t base = MixBits(MixBits(event.id.run) + event.id.number + of_owner);
  const std::uint64_t id = MixBits(base + index);
  return fmt::format("{:016x}", id != 0 ? id : MixBits(base + (index | (std::uint64_t{1} << 32))));
}

class Otlp {
 public:
  explicit Otlp(std::span<const Event> events) : events_(events), runs_(RunsOf(events)) {}
  std::string Json();

 private:
  void Resource(const RunOf& run);
  void SpansOfRun(const RunOf& run);
  void Root(const Event& event);
  void RunSpan(const Event& event, const RunOf& run, std::span<const StepSpan> steps);
  void StepsOfRun(const Event& event, const RunOf& run, std::span<const StepSpan> steps);
  void Hit(const EventHit& hit);
  void OpenSpan(const Event& event, std::uint64_t index, std::string_view name,
                std::uint64_t begin_ns, std::uint64_t end_ns);
  void Parent(const Event& event, std::uint64_t index);

  void TextAttribute(std::string_view key, std::string_view untrusted_value);
  void IntAttribute(std::string_view key, std::uint64_t value);
  void TrueAttribute(std::string_view key);
  void SiteAttributes(const EventHit& hit);
  void TagsAttribute(const std::vector<std::string>& tags);

  // The index of a run's span; 0 is the root, and steps follow the runs.
  std::uint64_t IndexOf(const RunOf& run) const {
    return 1 + static_cast<std::uint64_t>(std::distance(runs_.begin(), runs_.find(run.key)));
  }

  std::span<const Event> events_;
  std::map<RunKey, RunOf> runs_;
  JsonWriter json_;
};

void Otlp::TextAttribute(std::string_view key, std::string_view untrusted_value) {
  if (untrusted_value.empty()) return;
  json_.Object().Key("key").Text(key).Key("value").Object();
  json_.Key("stringValue").Text(untrusted_value).EndObject().EndObject();
}

void Otlp::IntAttribute(std::string_view key, std::uint64_t value) {
  // The protocol's integers are signed.
  const bool fits = value <= std::numeric_limits<std::int64_t>::max();
  json_.Object().Key("key").Text(key).Key("value").Object();
  json_.Key(fits ? "intValue" : "stringValue").NumberText(value).EndObject().EndObject();
}

void Otlp::TrueAttribute(std::string_view key) {
  json_.Object().Key("key").Text(key).Key("value").Object();
  json_.Key("boolValue").Bool(true).EndObject().EndObject();
}

void Otlp::TagsAttribute(const std::vector<std::string>& tags) {
  if (tags.empty()) return;
  json_.Object().Key("key").Text("fieldcost.tags").Key("value").Object();
  json_.Key("arrayValue").Object().Key("values").Array();
  for (const std::string& tag : tags) json_.Object().Key("stringValue").Text(tag).EndObject();
  json_.EndArray().EndObject().EndObject().EndObject();
}

void Otlp::SiteAttributes(const EventHit& hit) {
  TextAttribute("code.function.name", hit.site.function);
  TextAttribute("code.file.path", hit.site.file);
  if (hit.site.line != 0) IntAttribute("code.line.number", hit.site.line);
  IntAttribute("thread.id", hit.thread);
}

void Otlp::OpenSpan(const Event& event, std::uint64_t index, std::string_view name,
                    std::uint64_t begin_ns, std::uint64_t end_ns) {
  json_.Object().Key("traceId").Text(event.row.id.Hex());
  json_.Key("spanId").Text(SpanId(event.row.key(), index));
  json_.Key("name").Text(name).Key("kind").Number(kInternal);
  json_.Key("startTimeUnixNano").NumberText(begin_ns).Key("endTimeUnixNano").NumberText(end_ns);
}

void Otlp::Parent(const Event& event, std::uint64_t index) {
  json_.Key("parentSpanId").Text(SpanId(event.row.key(), index));
}

void Otlp::Root(const Event& event) {
  const EventBounds bounds = BoundsOf(event);
  OpenSpan(event, 0, event.row.label.empty() ? kNoLabel : event.row.label, bounds.begin_ns,
           bounds.end_ns);
  const auto join = std::ranges::find(event.hits, HitKind::kJoin, &EventHit::kind);
  if (event.row.label.empty() && join != event.hits.end() && join->parent != 0) {
    json_.Key("parentSpanId").Text(fmt::format("{:016x}", join->parent));
  }
  json_.Key("attributes").Array();
  if (event.row.end_ns == 0) TrueAttribute("fieldcost.not_over");
  if (event.row.is_incomplete) TrueAttribute("fieldcost.incomplete");
  if (event.row.is_suspended) TrueAttribute("fieldcost.suspended");
  if (event.hits_left_out != 0) IntAttribute("fieldcost.hits_left_out", event.hits_left_out);
  json_.EndArray().EndObject();
}

void Otlp::Hit(const EventHit& hit) {
  json_.Object().Key("timeUnixNano").NumberText(hit.ns).Key("name").Text(hit.site.label);
  json_.Key("attributes").Array();
  SiteAttributes(hit);
  TextAttribute("fieldcost.kind", Name(hit.kind));
  if (hit.value) IntAttribute("fieldcost.value", *hit.value);
  TextAttribute("code.stacktrace", StackText(hit));
  json_.EndArray().EndObject();
}

// A run's span covers the run's part of the event.
void Otlp::RunSpan(const Event& event, const RunOf& run, std::span<const StepSpan> steps) {
  EventBounds bounds{.begin_ns = std::numeric_limits<std::uint64_t>::max()};
  const auto reach = [&](std::uint64_t begin_ns, std::uint64_t end_ns) {
    bounds.begin_ns = std::min(bounds.begin_ns, begin_ns);
    bounds.end_ns = std::max(bounds.end_ns, end_ns);
  };
  for (const EventHit& hit : event.hits) {
    if (RunKeyOf(event, hit) == run.key) reach(hit.ns, hit.ns);
  }
  for (const StepSpan& span : steps) {
    if (RunKeyOf(event, event.hits[span.step.hit]) == run.key) reach(span.begin_ns, span.end_ns);
  }
  OpenSpan(event, IndexOf(run), run.program, bounds.begin_ns, bounds.end_ns);
  Parent(event, 0);
  json_.Key("events").Array();
  for (const EventHit& hit : event.hits) {
    if (RunKeyOf(event, hit) == run.key) Hit(hit);
  }
  json_.EndArray().EndObject();
}

void Otlp::StepsOfRun(const Event& event, const RunOf& run, std::span<const StepSpan> steps) {
  for (const StepSpan& span : steps) {
    const EventHit& hit = event.hits[span.step.hit];
    if (RunKeyOf(event, hit) != run.key) continue;
    OpenSpan(event, runs_.size() + span.step.hit, span.step.name, span.begin_ns, span.end_ns);
    Parent(event, IndexOf(run));
    json_.Key("attributes").Array();
    SiteAttributes(hit);
    if (span.step.between_threads) TrueAttribute("fieldcost.between_threads");
    json_.EndArray().EndObject();
  }
}

void Otlp::SpansOfRun(const RunOf& run) {
  for (const Event& event : events_) {
    if (OwnRunOf(event) == run.key) Root(event);
    if (std::ranges::none_of(
            event.hits, [&](const EventHit& hit) { return RunKeyOf(event, hit) == run.key; })) {
      continue;
    }
    const std::vector<StepSpan> steps = SpansOf(event);
    RunSpan(event, run, steps);
    StepsOfRun(event, run, steps);
  }
}

void Otlp::Resource(const RunOf& run) {
  json_.Key("resource").Object().Key("attributes").Array();
  TextAttribute("service.name", run.program.empty() ? "unknown_service" : run.program);
  TextAttribute("service.version", run.build);
  TextAttribute("service.instance.id", fmt::format("{:016x}", run.key.run));
  TagsAttribute(run.tags);
  json_.EndArray().EndObject();
}

std::string Otlp::Json() {
  json_.Object().Key("resourceSpans").Array();
  for (const auto& [key, run] : runs_) {
    json_.Object();
    Resource(run);
    json_.Key("scopeSpans").Array().Object();
    json_.Key("scope").Object().Key("name").Text(kScope).EndObject();
    json_.Key("spans").Array();
    SpansOfRun(run);
    json_.EndArray().EndObject().EndArray().EndObject();
  }
  json_.EndArray().EndObject();
  return json_.Take();
}

}  // namespace

std::string ToOtlpJson(std::span<const Event> events) { return Otlp(events).Json(); }

}  // namespace fieldcost::probe
