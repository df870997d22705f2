#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/probe/steps.h"

namespace fieldcost::probe {

// The data shared by both export formats. Pure.

// A step with its position in time.
struct StepSpan {
  Step step;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};
std::vector<StepSpan> SpansOf(const Event& event);

// From an event's begin, or else its first hit, to its end, or else its last hit; never negative.
struct EventBounds {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};
EventBounds BoundsOf(const Event& event);

// "#0 Load at src/index.cc:40 (editor)", one frame per line; "" without a stack.
std::string StackText(const EventHit& hit);

// The run in which an event is shown: the one that began it, or, if it began elsewhere, that of its
// first hit.
RunKey OwnRunOf(const Event& event);

// The run that a hit of the event belongs to.
inline RunKey RunKeyOf(const Event& event, const EventHit& hit) {
  return {event.row.owner, hit.run};
}

// The facts about a run that has events or hits here.
struct RunOf {
  RunKey key;
  std::string program;
  std::string build;  // both only for runs that began an event
  std::vector<std::string> tags;
};
std::map<RunKey, RunOf> RunsOf(std::span<const Event> events);

}  // namespace fieldcost::probe
