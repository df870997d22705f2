#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Divides an event's time into steps, from each hit to the next. They add up exactly to the time
// from the first hit to the last. Pure.
struct Step {
  // The label of the hit that ends it; "end" if an end hit has the event's label. With " #2" and so
  // on from the second occurrence. Unique within an event.
  std::string name;
  std::size_t hit = 0;  // index of the hit that ends it
  std::uint64_t ns = 0;
  bool between_threads = false;  // ends on another thread than it began
};
std::vector<Step> StepsOf(const Event& event);

// Times of steps with equal names in several events: one row per name, in the order of most events.
// Beyond kMaxStepNames, keeps those that most events have.
struct StepTable {
  std::vector<std::string> names;
  // [event][name]; ns; kNoStep if the event has no such step.
  std::vector<std::vector<std::uint64_t>> ns;
  std::size_t names_left_out = 0;
};
inline constexpr std::uint64_t kNoStep = ~std::uint64_t{0};
StepTable Align(std::span<const Event> events);
// The same for events in several places.
StepTable Align(std::span<const Event* const> events);

}  // namespace fieldcost::probe
