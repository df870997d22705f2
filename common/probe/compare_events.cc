#include "common/probe/compare_events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/inference/benjamini_hochberg.h"
#include "common/inference/covariate.h"
#include "common/inference/welch.h"

namespace fieldcost::probe {
namespace {

constexpr double kLevel = 0.95;
constexpr double kUnknownWait = -1;
constexpr double kMostWaitShare = 0.999;

double OctavesOf(std::uint64_t ns) {
  return std::log2(static_cast<double>(std::max<std::uint64_t>(ns, 1)));
}

struct Timed {
  RunKey run;
  double octaves = 0;
  double wait = kUnknownWait;  // of the run, for a CPU: octaves by which it takes longer
};

Timed TimedOf(const EventRow& row, std::uint64_t ns) {
  Timed timed = {.run = row.run_key(), .octaves = OctavesOf(ns)};
  if (row.observed_ns == 0) return timed;
  timed.wait =
      WaitOctaves(static_cast<double>(row.waited_ns) / static_cast<double>(row.observed_ns));
  return timed;
}

bool IsTested(const StepChange& change) {
  return std::min(change.base_values, change.new_values) >=
         inference::kEventThresholds.least_values;
}

// The values of a test: either one mean per run with the run's wait, or all times.
struct Values {
  std::vector<double> octaves;
  std::vector<double> waits;  // empty: some are unknown
  inference::WithCovariate WithWaits() const { return {octaves, waits}; }
};

Values ValuesOf(const std::vector<Timed>& times, bool by_run) {
  Values values;
  if (!by_run) {
    for (const Timed& time : times) values.octaves.push_back(time.octaves);
    return values;
  }
  struct Run {
    double sum = 0;
    std::size_t count = 0;
    double wait = kUnknownWait;
  };
  std::map<RunKey, Run> runs;
  for (const Timed& time : times) {
    Run& run = runs[time.run];
    run.sum += time.octaves;
    ++run.count;
    run.wait = time.wait;
  }
  for (const auto& [id, run] : runs) {
    values.octaves.push_back(run.sum / static_cast<double>(run.count));
    values.waits.push_back(run.wait);
  }
  if (std::ranges::count(values.waits, kUnknownWait) != 0) values.waits.clear();
  return values;
}

// Whether all runs' waits are known and do not differ significantly between the sides. If they
// differ, a change cannot be distinguished from load.
bool WaitsAreAlike(const Values& base, const Values& changed) {
  if (std::min(base.waits.size(), changed.waits.size()) < inference::kEventThresholds.least_values)
    return false;
  return inference::WelchP(inference::MomentsOf(base.waits), inference::MomentsOf(changed.waits)) >
         inference::kEventThresholds.false_share;
}

void SetRatio(StepChange& change, double octaves, const inference::DifferenceInterval& interval) {
  change.ratio = std::exp2(octaves);
  change.ratio_low = std::exp2(interval.low);
  change.ratio_high = std::exp2(interval.high);
}

bool HasEnoughRuns(const std::vector<Timed>& times) {
  std::set<RunKey> runs;
  for (const Timed& time : times) runs.insert(time.run);
  return runs.size() >= inference::kEventThresholds.least_values;
}

// Computes a change except for q and what depends on it.
StepChange ChangeOf(const std::vector<Timed>& base_times, const std::vector<Timed>& new_times,
                    bool by_run) {
  const Values base = ValuesOf(base_times, by_run);
  const Values changed = ValuesOf(new_times, by_run);
  StepChange change{.base_events = base_times.size(),
                    .new_events = new_times.size(),
                    .base_values = base.octaves.size(),
                    .new_values = changed.octaves.size()};
  inference::Moments of_base;
  inference::Moments of_new;
  if (change.base_values != 0) {
    of_base = inference::MomentsOf(base.octaves);
    change.base_ns = std::exp2(of_base.mean);
  }
  if (change.new_values != 0) {
    of_new = inference::MomentsOf(changed.octaves);
    change.new_ns = std::exp2(of_new.mean);
  }
  if (change.base_values == 0 || change.new_values == 0) return change;
  const double difference = of_new.mean - of_base.mean;
  change.ratio = std::exp2(difference);
  if (WaitsAreAlike(base, changed)) {
    const auto found = inference::DifferenceGiven(base.WithWaits(), changed.WithWaits(), kLevel);
    SetRatio(change, found.difference, found.interval);
    change.p = found.p;
  } else if (std::min(change.base_values, change.new_values) >= 2) {
    SetRatio(change, difference, inference::WelchInterval(of_base, of_new, kLevel));
    if (IsTested(change)) change.p = inference::WelchP(of_base, of_new);
  }
  return change;
}

void Decide(StepChange& change, double q, double least) {
  if (!IsTested(change)) return;
  change.q = q;
  inference::Thresholds thresholds = inference::kEventThresholds;
  thresholds.least_ratio = 1 + least;
  change.change = inference::VerdictOf({.q = q, .ratio = change.ratio}, thresholds);
}

// Adjusts q over all tested values, and decides about the changes.
void DecideFamily(const std::vector<StepChange*>& changes, double least) {
  std::vector<double> p_values;
  std::vector<StepChange*> tested;
  for (StepChange* const change : changes) {
    if (!IsTested(*change)) continue;
    tested.push_back(change);
    p_values.push_back(change->p);
  }
  const std::vector<double> q_values = inference::AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) Decide(*tested[i], q_values[i], least);
}

std::vector<Timed> TotalsOf(std::span<const Event> events) {
  std::vector<Timed> times;
  for (const Event& event : events) {
    if (event.row.end_ns != 0) {
      times.push_back(TimedOf(event.row, event.row.TotalNs()));
    }
  }
  return times;
}

// The times in a column of the table, for the events in [from, to).
std::vector<Timed> TimesOf(const std::vector<const Event*>& events, const StepTable& table,
                           std::size_t name, std::size_t from, std::size_t to) {
  std::vector<Timed> times;
  for (std::size_t event = from; event < to; ++event) {
    if (table.ns[event][name] != kNoStep) {
      times.push_back(TimedOf(events[event]->row, table.ns[event][name]));
    }
  }
  return times;
}

// R's type 7. REQUIRES: sorted, not empty.
double QuantileOf(const std::vector<std::uint64_t>& sorted, double q) {
  FIELDCOST_CHECK(!sorted.empty());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto low = static_cast<double>(sorted[below]);
  const auto high = static_cast<double>(sorted[std::min(below + 1, sorted.size() - 1)]);
  return low + (high - low) * (place - static_cast<double>(below));
}

struct BuildTotals {
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::vector<std::uint64_t> totals;
  std::vector<Timed> times;
};

BuildPoint PointOf(const std::string& build, BuildTotals& of_build) {
  std::ranges::sort(of_build.totals);
  return {.build = build,
          .first_ns = of_build.first_ns,
          .events = of_build.totals.size(),
          .median_ns = QuantileOf(of_build.totals, 0.5),
          .low_ns = QuantileOf(of_build.totals, 0.25),
          .high_ns = QuantileOf(of_build.totals, 0.75)};
}

using Builds = std::map<std::string, BuildTotals>;

// The builds in order, each with its change except for q.
std::vector<BuildPoint> PointsOf(Builds& builds) {
  std::vector<BuildPoint> points;
  for (auto& [build, of_build] : builds) points.push_back(PointOf(build, of_build));
  std::ranges::stable_sort(points, {}, &BuildPoint::first_ns);
  for (std::size_t i = 0; i < points.size(); ++i) {
    static const std::vector<Timed> kNothing;
    const std::vector<Timed>& before = i == 0 ? kNothing : builds[points[i - 1].build].times;
    const std::vector<Timed>& times = builds[points[i].build].times;
    points[i].change = ChangeOf(before, times, HasEnoughRuns(before) && HasEnoughRuns(times));
  }
  return points;
}

}  // namespace

double WaitOctaves(double share) { return -std::log2(1 - std::min(share, kMostWaitShare)); }

Comparison Compare(std::span<const Event> base, std::span<const Event> changed, double least) {
  Comparison comparison;
  const std::vector<Timed> base_totals = TotalsOf(base);
  const std::vector<Timed> new_totals = TotalsOf(changed);
  comparison.by_run = HasEnoughRuns(base_totals) && HasEnoughRuns(new_totals);
  comparison.total = ChangeOf(base_totals, new_totals, comparison.by_run);
  comparison.at_equal_wait = WaitsAreAlike(ValuesOf(base_totals, comparison.by_run),
                                           ValuesOf(new_totals, comparison.by_run));
  std::vector<const Event*> all;
  for (const Event& event : base) all.push_back(&event);
  for (const Event& event : changed) all.push_back(&event);
  const StepTable table = Align(std::span<const Event* const>(all));
  for (std::size_t name = 0; name < table.names.size(); ++name) {
    StepChange change =
        ChangeOf(TimesOf(all, table, name, 0, base.size()),
                 TimesOf(all, table, name, base.size(), all.size()), comparison.by_run);
    change.name = table.names[name];
    comparison.steps.push_back(std::move(change));
  }
  Comparison* const one = &comparison;
  DecideTogether({&one, 1}, least);
  return comparison;
}

void DecideTogether(std::span<Comparison* const> comparisons, double least) {
  std::vector<StepChange*> totals;
  std::vector<StepChange*> steps;
  for (Comparison* const comparison : comparisons) {
    totals.push_back(&comparison->total);
    for (StepChange& step : comparison->steps) steps.push_back(&step);
  }
  DecideFamily(totals, least);
  DecideFamily(steps, least);
}

std::vector<HistoryLine> History(std::span<const EventRow> events, double least) {
  std::map<std::pair<std::string, std::vector<std::string>>, Builds> lines;
  for (const EventRow& event : events) {
    if (event.end_ns == 0) continue;
    BuildTotals& of_build = lines[{event.program, event.tags}][event.build];
    of_build.first_ns = std::min(of_build.first_ns, event.begin_ns);
    of_build.totals.push_back(event.TotalNs());
    of_build.times.push_back(TimedOf(event, event.TotalNs()));
  }
  std::vector<HistoryLine> history;
  for (auto& [kind, builds] : lines) {
    history.push_back({kind.first, kind.second, PointsOf(builds)});
  }
  std::vector<StepChange*> changes;
  for (HistoryLine& line : history) {
    for (BuildPoint& point : line.builds) changes.push_back(&point.change);
  }
  DecideFamily(changes, least);
  return history;
}

}  // namespace fieldcost::probe
