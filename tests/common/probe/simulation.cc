#include "tests/common/probe/simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/probe/compare_events.h"
#include "common/probe/groups.h"
#include "common/probe/set_aside.h"
#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

constexpr double kTypicalNs = 1e7;

// Implements Box-Muller, since distributions may differ between standard libraries.
class Times {
 public:
  Times(const RunPlan& plan) : random_(plan.seed), spread_(plan.spread) {}

  std::uint64_t Next(double times = 1) {
    const double x =
        std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
    return static_cast<std::uint64_t>(kTypicalNs * times * std::exp2(spread_ * x));
  }

  double Uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
  double spread_;
};

std::vector<EventRow> RowsOf(const RunPlan& plan, Times& times) {
  std::vector<EventRow> rows;
  for (std::size_t i = 0; i < plan.runs; ++i) rows.push_back(SomeRow(i, times.Next()));
  return rows;
}

std::vector<Event> EventsOf(std::size_t runs, std::size_t steps, double slower, Times& times) {
  std::vector<Event> events;
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<std::uint64_t> ns(steps);
    for (std::uint64_t& step : ns) step = times.Next(slower);
    events.push_back(EventOfSteps(run, ns));
  }
  return events;
}

// Runs with one event per label.
class Labels {
 public:
  Labels(std::size_t runs, std::size_t steps, std::size_t labels, Times& times) {
    for (std::size_t label = 0; label < labels; ++label) {
      for (Event& event : EventsOf(runs, steps, 1, times)) {
        event.row.label = std::to_string(label);
        event.row.id.number = event.row.id.number * labels + label;
        const EventKey key = event.row.key();
        events_.emplace(key, std::move(event));
      }
    }
  }
  // REQUIRES: this outlives the result.
  GroupSide Side() const {
    GroupSide side;
    for (const auto& [key, event] : events_) side.rows.push_back({event.row, false});
    side.load = [this](const EventKey& key) -> Result<Event> { return events_.at(key); };
    return side;
  }

 private:
  std::map<EventKey, Event> events_;
};

bool IsCalled(const StepChange& step) {
  return step.change == inference::Verdict::kMore || step.change == inference::Verdict::kLess;
}

// Runs, each with a wait for a CPU, which prolongs it.
std::vector<Event> BusyEvents(std::uint64_t first_run, const RunPlan& plan, double slower,
                              Times& times) {
  constexpr std::uint64_t kObserved = 1'000'000;
  std::vector<Event> events;
  for (std::uint64_t run = 0; run < plan.runs; ++run) {
    const double ran = std::exp2(-2 * times.Uniform());  // from a quarter of the time to all
    std::vector<std::uint64_t> ns;
    for (const double step : {1.0, slower, 1.0}) {
      ns.push_back(static_cast<std::uint64_t>(static_cast<double>(times.Next(step)) / ran));
    }
    events.push_back(EventOfSteps(run, ns));
    events.back().row.id.run = first_run + run;
    events.back().row.observed_ns = kObserved;
    events.back().row.waited_ns = static_cast<std::uint64_t>((1 - ran) * kObserved);
  }
  return events;
}

bool IsAnyStepCalled(const ComparedGroup& group) {
  return std::ranges::any_of(group.comparison.steps, IsCalled);
}

}  // namespace

double ShareOfCleanThatGo(const RunPlan& plan) {
  Times times(plan);
  std::ptrdiff_t gone = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    gone += std::ranges::count_if(Judge(RowsOf(plan, times)), &Judgement::IsSetAside);
  }
  return static_cast<double>(gone) / (plan.rounds * static_cast<double>(plan.runs));
}

double ShareOfDirtyThatGo(const RunPlan& plan, double times_as_long) {
  Times times(plan);
  int found = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    std::vector<EventRow> rows = RowsOf(plan, times);
    rows.back() = SomeRow(plan.runs, times.Next(times_as_long));
    if (Judge(rows).back().IsSetAside()) ++found;
  }
  return static_cast<double>(found) / plan.rounds;
}

Called ShareOfTotalsCalled(const RunPlan& plan, double times_as_long, double least) {
  Times times(plan);
  Called called;
  for (int round = 0; round < plan.rounds; ++round) {
    const auto base = EventsOf(plan.runs, 1, 1, times);
    const auto changed = EventsOf(plan.runs, 1, times_as_long, times);
    const inference::Verdict change = Compare(base, changed, least).total.change;
    if (change == inference::Verdict::kMore) called.slower += 1.0 / plan.rounds;
    if (change == inference::Verdict::kLess) called.faster += 1.0 / plan.rounds;
  }
  return called;
}

BusyCalled ShareOfBusyStepsCalled(const RunPlan& plan, double times_as_long) {
  Times times(plan);
  BusyCalled called;
  for (int round = 0; round < plan.rounds; ++round) {
    const auto base = BusyEvents(1, plan, 1, times);
    const auto changed = BusyEvents(1000, plan, times_as_long, times);
    const Comparison comparison = Compare(base, changed, 0);
    if (comparison.steps[1].change == inference::Verdict::kMore) called.slower += 1.0 / plan.rounds;
    if (IsCalled(comparison.steps[0]) || IsCalled(comparison.steps[2])) {
      called.other += 1.0 / plan.rounds;
    }
  }
  return called;
}

double ShareWithAnyStepCalled(const RunPlan& plan, std::size_t steps, std::size_t labels) {
  Times times(plan);
  int called = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    const Labels base(plan.runs, steps, labels, times);
    const Labels changed(plan.runs, steps, labels, times);
    const auto compared = CompareGroups(base.Side(), changed.Side(), 0);
    FIELDCOST_CHECK(compared.has_value());
    if (std::ranges::any_of(compared->groups, IsAnyStepCalled)) ++called;
  }
  return static_cast<double>(called) / plan.rounds;
}

}  // namespace fieldcost::probe
