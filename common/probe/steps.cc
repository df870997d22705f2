#include "common/probe/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

constexpr char kEndName[] = "end";

// Generates names that are unique within an event.
class StepNames {
 public:
  std::string Next(const std::string& label) {
    std::size_t& times = times_[label];
    std::string name = ++times == 1 ? label : fmt::format("{} #{}", label, times);
    // A label may equal the generated name of another label's second occurrence.
    while (!given_.insert(name).second) name = fmt::format("{} #{}", label, ++times);
    return name;
  }

 private:
  std::unordered_map<std::string, std::size_t> times_;
  std::unordered_set<std::string> given_;
};

const std::string& NameOf(const EventHit& hit, const EventRow& row) {
  static const std::string kEnd = kEndName;
  return hit.kind == HitKind::kEnd && hit.site.label == row.label ? kEnd : hit.site.label;
}

// Numbers names in the order of their occurrence, and records what is known about their order.
class NameOrder {
 public:
  // Adds the steps of the next event; returns their numbers.
  std::vector<std::size_t> Add(std::span<const Step> steps);
  // The numbers of all names, in display order.
  std::vector<std::size_t> Order() const;

  const std::string& name(std::size_t number) const { return names_[number]; }
  std::size_t events(std::size_t number) const { return events_[number]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::size_t> events_;                                        // how many have it
  std::vector<std::unordered_map<std::size_t, std::size_t>> comes_after_;  // number of events
};

std::vector<std::size_t> NameOrder::Add(std::span<const Step> steps) {
  std::vector<std::size_t> numbers;
  numbers.reserve(steps.size());
  for (const Step& step : steps) {
    const auto [found, is_new] = numbers_.try_emplace(step.name, names_.size());
    if (is_new) {
      names_.push_back(step.name);
      events_.push_back(0);
      comes_after_.emplace_back();
    }
    ++events_[found->second];
    if (!numbers.empty()) ++comes_after_[numbers.back()][found->second];
    numbers.push_back(found->second);
  }
  return numbers;
}

// Repeatedly takes the name that, in the fewest events, directly follows a name not yet taken;
// among several, the one that occurred first.
std::vector<std::size_t> NameOrder::Order() const {
  std::vector<std::size_t> waits_for(names_.size());
  for (const auto& after : comes_after_) {
    for (const auto& [number, count] : after) waits_for[number] += count;
  }
  std::set<std::pair<std::size_t, std::size_t>> open;
  for (std::size_t number = 0; number < names_.size(); ++number) {
    open.emplace(waits_for[number], number);
  }
  std::vector<std::size_t> order;
  while (!open.empty()) {
    const std::size_t next = open.begin()->second;
    open.erase(open.begin());
    order.push_back(next);
    for (const auto& [number, count] : comes_after_[next]) {
      const auto waits = open.find({waits_for[number], number});
      waits_for[number] -= count;
      if (waits == open.end()) continue;  // already placed
      open.erase(waits);
      open.emplace(waits_for[number], number);
    }
  }
  return order;
}

// Keeps the names that most events have (among equals, the earlier ones), in the same order.
void KeepMostUsual(const NameOrder& names, std::vector<std::size_t>& order) {
  if (order.size() <= kMaxStepNames) return;
  std::vector<std::size_t> places(order.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, std::ranges::greater(),
                           [&](std::size_t place) { return names.events(order[place]); });
  places.resize(kMaxStepNames);
  std::ranges::sort(places);
  std::vector<std::size_t> kept;
  for (const std::size_t place : places) kept.push_back(order[place]);
  order = std::move(kept);
}

}  // namespace

std::vector<Step> StepsOf(const Event& event) {
  std::vector<Step> steps;
  if (event.hits.size() < 2) return steps;
  StepNames names;
  std::uint64_t reached = event.hits.front().ns;
  for (std::size_t i = 1; i < event.hits.size(); ++i) {
    const EventHit& hit = event.hits[i];
    const EventHit& before = event.hits[i - 1];
    // Time never goes back, so that the sum is exact regardless of the clocks.
    const std::uint64_t ns = std::max(hit.ns, reached);
    steps.push_back({.name = names.Next(NameOf(hit, event.row)),
                     .hit = i,
                     .ns = ns - reached,
                     .between_threads = hit.thread != before.thread || hit.run != before.run});
    reached = ns;
  }
  return steps;
}

StepTable Align(std::span<const Event* const> events) {
  NameOrder names;
  struct Column {
    std::vector<Step> steps;
    std::vector<std::size_t> numbers;
  };
  std::vector<Column> columns;
  for (const Event* const event : events) {
    Column column{.steps = StepsOf(*event)};
    column.numbers = names.Add(column.steps);
    columns.push_back(std::move(column));
  }
  std::vector<std::size_t> order = names.Order();
  StepTable table;
  const std::size_t all = order.size();
  KeepMostUsual(names, order);
  table.names_left_out = all - order.size();
  std::vector<std::size_t> place_of(all, all);
  for (std::size_t place = 0; place < order.size(); ++place) {
    table.names.push_back(names.name(order[place]));
    place_of[order[place]] = place;
  }
  for (const Column& column : columns) {
    std::vector<std::uint64_t>& ns = table.ns.emplace_back(order.size(), kNoStep);
    for (std::size_t i = 0; i < column.steps.size(); ++i) {
      const std::size_t place = place_of[column.numbers[i]];
      if (place != all) ns[place] = column.steps[i].ns;
    }
  }
  return table;
}

StepTable Align(std::span<const Event> events) {
  std::vector<const Event*> pointers;
  for (const Event& event : events) pointers.push_back(&event);
  return Align(std::span<const Event* const>(pointers));
}

}  // namespace fieldcost::probe
