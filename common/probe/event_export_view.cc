#include "common/probe/event_export_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fieldcost::probe {
namespace {

std::string FrameText(const Frame& frame) {
  std::string text = frame.function.empty() ? "?" : frame.function;
  if (!frame.file.empty()) {
    text += " at " + frame.file;
    if (frame.line != 0) text += fmt::format(":{}", frame.line);
  }
  if (!frame.module.empty()) text += fmt::format(" ({})", frame.module);
  return text;
}

}  // namespace

std::vector<StepSpan> SpansOf(const Event& event) {
  std::vector<StepSpan> spans;
  if (event.hits.empty()) return spans;
  std::uint64_t reached = event.hits.front().ns;
  for (Step& step : StepsOf(event)) {
    const std::uint64_t begin = std::exchange(reached, reached + step.ns);
    spans.push_back({.step = std::move(step), .begin_ns = begin, .end_ns = reached});
  }
  return spans;
}

EventBounds BoundsOf(const Event& event) {
  EventBounds bounds{.begin_ns = event.row.begin_ns, .end_ns = event.row.end_ns};
  if (bounds.begin_ns == 0 && !event.hits.empty()) bounds.begin_ns = event.hits.front().ns;
  if (bounds.end_ns == 0 && !event.hits.empty()) bounds.end_ns = event.hits.back().ns;
  bounds.end_ns = std::max(bounds.begin_ns, bounds.end_ns);
  return bounds;
}

std::string StackText(const EventHit& hit) {
  std::string text;
  for (std::size_t i = 0; i < hit.stack.size(); ++i) {
    text += fmt::format("{}#{} {}", i == 0 ? "" : "\n", i, FrameText(hit.stack[i]));
  }
  if (hit.has_stack && hit.stack_is_cut) text += "\n[truncated]";
  return text;
}

RunKey OwnRunOf(const Event& event) {
  return event.row.label.empty() && !event.hits.empty() ? RunKeyOf(event, event.hits.front())
                                                        : event.row.run_key();
}

std::map<RunKey, RunOf> RunsOf(std::span<const Event> events) {
  std::map<RunKey, RunOf> runs;
  for (const Event& event : events) {
    const RunKey own = OwnRunOf(event);
    runs[own] = {own, event.row.program, event.row.build, event.row.tags};
    for (const EventHit& hit : event.hits) {
      const RunKey key = RunKeyOf(event, hit);
      RunOf& run = runs[key];
      run.key = key;
      if (run.program.empty()) run.program = hit.program;
    }
  }
  return runs;
}

}  // namespace fieldcost::probe
