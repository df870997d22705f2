#include "common/probe/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/check.h"
#include "common/stats/benjamini_hochberg.h"
#include "common/stats/welch.h"

namespace fieldcost::probe {
namespace {

constexpr double kLevel = 0.95;

double OctavesOf(std::uint64_t ns) {
  return std::log2(static_cast<double>(std::max<std::uint64_t>(ns, 1)));
}

bool IsTested(const StepChange& change) {
  return std::min(change.base_events, change.new_events) >= kLeastEvents;
}

// Makes all of a change but q and what follows from that. Times are in octaves.
StepChange ChangeOf(const std::vector<double>& base, const std::vector<double>& changed) {
  StepChange change{.base_events = base.size(), .new_events = changed.size()};
  stats::Moments of_base;
  stats::Moments of_new;
  if (!base.empty()) {
    of_base = stats::MomentsOf(base);
    change.base_ns = std::exp2(of_base.mean);
  }
  if (!changed.empty()) {
    of_new = stats::MomentsOf(changed);
    change.new_ns = std::exp2(of_new.mean);
  }
  if (!base.empty() && !changed.empty()) change.ratio = std::exp2(of_new.mean - of_base.mean);
  if (base.size() >= 2 && changed.size() >= 2) {
    const auto [low, high] = stats::WelchInterval(of_base, of_new, kLevel);
    change.ratio_low = std::exp2(low);
    change.ratio_high = std::exp2(high);
  }
  if (IsTested(change)) change.p = stats::WelchP(of_base, of_new);
  return change;
}

void Decide(StepChange& change, double q, double least) {
  if (!IsTested(change)) return;
  change.q = q;
  change.change = Change::kNone;
  if (q > kMostFalse) return;
  if (change.ratio > 1 + least) change.change = Change::kSlower;
  if (change.ratio < 1 / (1 + least)) change.change = Change::kFaster;
}

// Adjusts over those that are tested. `changes` is a range of StepChange*.
void DecideTogether(const std::vector<StepChange*>& changes, double least) {
  std::vector<double> p_values;
  std::vector<StepChange*> tested;
  for (StepChange* const change : changes) {
    if (!IsTested(*change)) continue;
    tested.push_back(change);
    p_values.push_back(change->p);
  }
  const std::vector<double> q_values = stats::AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) Decide(*tested[i], q_values[i], least);
}

std::vector<double> TotalsOf(std::span<const Event> events) {
  std::vector<double> octaves;
  for (const Event& event : events) {
    if (event.row.end_ns != 0) octaves.push_back(OctavesOf(event.row.TotalNs()));
  }
  return octaves;
}

// The times in a column of the table, of the events in [from, to).
std::vector<double> TimesOf(const StepTable& table, std::size_t name, std::size_t from,
                            std::size_t to) {
  std::vector<double> octaves;
  for (std::size_t event = from; event < to; ++event) {
    if (table.ns[event][name] != kNoStep) octaves.push_back(OctavesOf(table.ns[event][name]));
  }
  return octaves;
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
  std::vector<double> octaves;
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

}  // namespace

Comparison Compare(std::span<const Event> base, std::span<const Event> changed, double least) {
  Comparison comparison;
  comparison.total = ChangeOf(TotalsOf(base), TotalsOf(changed));
  Decide(comparison.total, comparison.total.p, least);
  std::vector<const Event*> all;
  for (const Event& event : base) all.push_back(&event);
  for (const Event& event : changed) all.push_back(&event);
  const StepTable table = Align(std::span<const Event* const>(all));
  for (std::size_t name = 0; name < table.names.size(); ++name) {
    StepChange change = ChangeOf(TimesOf(table, name, 0, base.size()),
                                 TimesOf(table, name, base.size(), all.size()));
    change.name = table.names[name];
    comparison.steps.push_back(std::move(change));
  }
  std::vector<StepChange*> steps;
  for (StepChange& step : comparison.steps) steps.push_back(&step);
  DecideTogether(steps, least);
  return comparison;
}

std::vector<BuildPoint> History(std::span<const EventRow> events, double least) {
  std::map<std::string, BuildTotals> builds;
  for (const EventRow& event : events) {
    if (event.end_ns == 0) continue;
    BuildTotals& of_build = builds[event.build];
    of_build.first_ns = std::min(of_build.first_ns, event.begin_ns);
    of_build.totals.push_back(event.TotalNs());
    of_build.octaves.push_back(OctavesOf(event.TotalNs()));
  }
  std::vector<BuildPoint> points;
  for (auto& [build, of_build] : builds) points.push_back(PointOf(build, of_build));
  std::ranges::stable_sort(points, {}, &BuildPoint::first_ns);
  std::vector<StepChange*> changes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    static const std::vector<double> kNothing;
    const std::vector<double>& before = i == 0 ? kNothing : builds[points[i - 1].build].octaves;
    points[i].change = ChangeOf(before, builds[points[i].build].octaves);
    changes.push_back(&points[i].change);
  }
  DecideTogether(changes, least);
  return points;
}

}  // namespace fieldcost::probe
