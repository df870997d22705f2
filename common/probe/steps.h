#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Where an event's time went: from each hit to the next. Steps add up to the time from the first
// hit to the last, exactly. Pure.
struct Step {
  // Label of the hit that ends it; "end" of an end that is labelled as the event is. From its
  // second time on with " #2". No two steps of an event have the same.
  std::string name;
  std::size_t hit = 0;  // that ends it: index
  std::uint64_t ns = 0;
  bool between_threads = false;  // ends on another thread than it began
};
std::vector<Step> StepsOf(const Event& event);

// Times of equal names over the columns of a picture: a row for each name, in the order in which
// most events have them. If there are more than kMaxStepNames, those that most events have stay.
struct StepTable {
  std::vector<std::string> names;
  // [event][name]; ns; kNoStep: that event has no such step.
  std::vector<std::vector<std::uint64_t>> ns;
  std::size_t names_left_out = 0;
};
inline constexpr std::uint64_t kNoStep = ~std::uint64_t{0};
StepTable Align(std::span<const Event> events);
// The same of events in several places.
StepTable Align(std::span<const Event* const> events);

}  // namespace fieldcost::probe
