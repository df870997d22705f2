#include "tools/report/version_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "common/stats/anomaly.h"
#include "common/stats/benjamini_hochberg.h"
#include "common/stats/effect_size.h"
#include "common/stats/field_total.h"
#include "tools/report/version_order.h"

namespace fieldcost::report {
namespace {

using stats::HardwareClass;
using stats::Metric;
using stats::StatRow;

// What one version has of one metric in one hardware class (empty = all).
struct Cell {
  stats::ApiSums sums;
  // By how many weeks' contributions one machine's are counted at most; 0 = not known.
  double repeats = 0;

  std::uint64_t Machines(double repeats_of_all) const {
    const double by = repeats > 0          ? repeats
                      : repeats_of_all > 0 ? repeats_of_all
                                           : static_cast<double>(kAssumedWeeks);
    return static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(sums.scalars.contributions) / by));
  }
};

Cell MakeCell(const std::vector<const StatRow*>& rows) {
  Cell cell;
  std::map<std::uint32_t, std::uint64_t> by_week;
  bool whole = false;  // there are rows over all weeks
  for (const StatRow* row : rows) {
    if (row->key.week == 0) {
      whole = true;
    } else {
      by_week[row->key.week] += row->scalars.contributions;
    }
  }
  for (const StatRow* row : rows) {
    if ((row->key.week == 0) == whole) cell.sums.Merge(*row);
  }
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (const auto& [week, contributions] : by_week) {
    sum += contributions;
    most = std::max(most, contributions);
  }
  if (most > 0) cell.repeats = static_cast<double>(sum) / static_cast<double>(most);
  return cell;
}

// One metric in one version.
class VersionSide {
 public:
  VersionSide(std::span<const StatRow> rows, Metric metric) {
    std::map<HardwareClass, std::vector<const StatRow*>> by_class;
    for (const StatRow& row : rows) {
      if (row.key.metric == metric) by_class[row.key.hardware].push_back(&row);
    }
    for (const auto& [hardware, some] : by_class) {
      (hardware == HardwareClass{} ? all_ : classes_[hardware]) = MakeCell(some);
    }
    if (by_class.contains({})) return;
    for (const auto& [hardware, cell] : classes_) {
      all_.sums.Merge(cell.sums);
      all_.repeats = std::max(all_.repeats, cell.repeats);
    }
  }

  const Cell& all() const { return all_; }
  const std::map<HardwareClass, Cell>& classes() const { return classes_; }
  stats::MachineGroup GroupOf(const Cell& cell) const {
    return {stats::ScalarsForTests(cell.sums), cell.Machines(all_.repeats)};
  }

 private:
  Cell all_;
  std::map<HardwareClass, Cell> classes_;
};

struct Pair {
  const Cell* before;
  const Cell* after;
};

// The classes that both have, if they hold enough of both.
std::vector<Pair> CommonClasses(const VersionSide& before, const VersionSide& after) {
  std::vector<Pair> common;
  std::uint64_t covered_before = 0;
  std::uint64_t covered_after = 0;
  for (const auto& [hardware, cell] : before.classes()) {
    const auto other = after.classes().find(hardware);
    if (other == after.classes().end()) continue;
    if (before.GroupOf(cell).machines < 2 || after.GroupOf(other->second).machines < 2) continue;
    common.push_back({&cell, &other->second});
    covered_before += cell.sums.scalars.contributions;
    covered_after += other->second.sums.scalars.contributions;
  }
  const auto enough = [](std::uint64_t covered, const Cell& all) {
    return static_cast<double>(covered) >=
           kLeastCovered * static_cast<double>(all.sums.scalars.contributions);
  };
  if (!enough(covered_before, before.all()) || !enough(covered_after, after.all())) common.clear();
  return common;
}

// Of machines where that is known of both.
double DeltaOf(const Pair& pair) {
  const stats::ApiSums& before = pair.before->sums;
  const stats::ApiSums& after = pair.after->sums;
  const bool both = stats::KnowsMachines(before) && stats::KnowsMachines(after);
  return stats::CliffsDelta({&before.histogram, both ? &before.weights : nullptr},
                            {&after.histogram, both ? &after.weights : nullptr});
}

MetricChange CompareMetric(std::span<const StatRow> rows_before,
                           std::span<const StatRow> rows_after, Metric metric) {
  const VersionSide before(rows_before, metric);
  const VersionSide after(rows_after, metric);
  std::vector<Pair> pairs = CommonClasses(before, after);
  MetricChange change;
  change.metric = metric;
  change.classes = static_cast<std::uint32_t>(pairs.size());
  change.weeks_known = before.all().repeats > 0 && after.all().repeats > 0;
  if (pairs.empty()) pairs.push_back({&before.all(), &after.all()});
  std::vector<stats::MachineStratum> strata;
  double weights = 0;
  double delta = 0;
  for (const Pair& pair : pairs) {
    strata.push_back({before.GroupOf(*pair.before), after.GroupOf(*pair.after)});
    const auto left = static_cast<double>(strata.back().before.machines);
    const auto right = static_cast<double>(strata.back().after.machines);
    if (left + right == 0) continue;
    const double weight = left * right / (left + right);  // as of the test
    weights += weight;
    delta += weight * DeltaOf(pair);
  }
  if (weights > 0) change.delta = delta / weights;
  change.test = stats::CompareMachines(strata);
  const auto interval = change.test.ConfidenceInterval(kConfidence);
  change.ratio = std::exp2(change.test.octaves);
  change.ratio_low = std::exp2(interval.low);
  change.ratio_high = std::exp2(interval.high);
  return change;
}

// All builds of the version as one.
std::vector<StatRow> WithoutBuilds(std::span<const StatRow> rows) {
  std::vector<StatRow> all(rows.begin(), rows.end());
  for (StatRow& row : all) row.key.api.build_id.clear();
  return all;
}

}  // namespace

std::string_view Name(Change change, Metric metric) {
  const bool time = stats::Unit(metric) == "ns" || stats::Unit(metric) == "cycles";
  switch (change) {
    case Change::kTooLittleData:
      return "too little data";
    case Change::kNone:
      return "no change shown";
    case Change::kMore:
      return time ? "slower" : "more";
    case Change::kLess:
      return time ? "faster" : "less";
  }
  return "";
}

bool MetricChange::eligible() const {
  const auto enough = [](std::uint64_t timed, const stats::Figures& figures) {
    return timed >= stats::kLeastCalls && figures.contributions >= stats::kLeastContributions;
  };
  return enough(timed_before, before) && enough(timed_after, after) && test.strata > 0;
}

const MetricChange* ApiChange::Find(Metric metric) const {
  const auto found = std::ranges::find(metrics, metric, &MetricChange::metric);
  return found == metrics.end() ? nullptr : &*found;
}

MetricChange* ApiChange::Find(Metric metric) {
  return const_cast<MetricChange*>(std::as_const(*this).Find(metric));
}

ApiChange CompareApi(std::span<const StatRow> before, std::span<const StatRow> after) {
  ApiChange change;
  const stats::ApiKey& api = before.front().key.api;
  change.soname = api.soname;
  change.symbol = api.symbol;
  change.symbol_version = api.symbol_version;
  const std::vector<StatRow> old_rows = WithoutBuilds(before);
  const std::vector<StatRow> new_rows = WithoutBuilds(after);
  const CostSummary old_numbers = Summarise(old_rows).front();
  const CostSummary new_numbers = Summarise(new_rows).front();
  change.calls_before = CallsOf(old_numbers);
  change.calls_after = CallsOf(new_numbers);
  for (const auto& [metric, summary] : old_numbers.metrics) {
    const MetricSummary* other = new_numbers.Find(metric);
    if (metric == Metric::kCallsPerRun || other == nullptr) continue;
    MetricChange& added = change.metrics.emplace_back(CompareMetric(old_rows, new_rows, metric));
    added.before = summary.figures;
    added.after = other->figures;
    added.timed_before = summary.sums.histogram.count();
    added.timed_after = other->sums.histogram.count();
  }
  return change;
}

void Decide(std::span<MetricChange* const> changes) {
  std::vector<MetricChange*> eligible;
  std::vector<double> p_values;
  for (MetricChange* change : changes) {
    change->q = 1;
    change->change = Change::kTooLittleData;
    if (!change->eligible()) continue;
    eligible.push_back(change);
    p_values.push_back(change->test.p);
  }
  const std::vector<double> q_values = stats::AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < eligible.size(); ++i) {
    MetricChange& change = *eligible[i];
    change.q = q_values[i];
    const bool significant = change.q <= stats::kFalseDiscoveries;
    if (significant && change.ratio >= stats::kLeastRatio && change.delta >= stats::kLeastDelta) {
      change.change = Change::kMore;
    } else if (significant && change.ratio <= 1 / stats::kLeastRatio &&
               change.delta <= -stats::kLeastDelta) {
      change.change = Change::kLess;
    } else {
      change.change = Change::kNone;
    }
  }
}

std::uint64_t LibraryChange::Count(Metric metric, Change wanted) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(apis, [&](const ApiChange& api) {
    const MetricChange* found = api.Find(metric);
    return found != nullptr && found->change == wanted;
  }));
}

LibraryComparison::LibraryComparison(std::string soname, std::string before, std::string after,
                                     std::optional<Metric> only)
    : only_(only) {
  change_.soname = std::move(soname);
  change_.before = std::move(before);
  change_.after = std::move(after);
}

void LibraryComparison::Add(std::span<const StatRow> rows) {
  struct Sides {
    std::vector<StatRow> before;
    std::vector<StatRow> after;
  };
  std::map<std::pair<std::string, std::string>, Sides> by_symbol;  // and its version
  for (const StatRow& row : rows) {
    const stats::ApiKey& api = row.key.api;
    if (api.soname != change_.soname) continue;
    const std::string version = VersionOf(api);
    if (version != change_.before && version != change_.after) continue;
    Sides& sides = by_symbol[{api.symbol, api.symbol_version}];
    (version == change_.before ? sides.before : sides.after).push_back(row);
  }
  for (const auto& [symbol, sides] : by_symbol) {
    if (sides.after.empty()) {
      change_.removed.push_back(symbol.first);
    } else if (sides.before.empty()) {
      change_.added.push_back(symbol.first);
    } else {
      ApiChange& api = change_.apis.emplace_back(CompareApi(sides.before, sides.after));
      std::erase_if(api.metrics, [&](const auto& one) { return only_ && one.metric != *only_; });
    }
  }
}

LibraryChange LibraryComparison::Finish() {
  std::vector<MetricChange*> all;
  std::ranges::sort(change_.apis, [](const ApiChange& a, const ApiChange& b) {
    return std::tie(a.symbol, a.symbol_version) < std::tie(b.symbol, b.symbol_version);
  });
  for (ApiChange& api : change_.apis) {
    for (MetricChange& change : api.metrics) all.push_back(&change);
  }
  Decide(all);
  std::ranges::sort(change_.added);
  std::ranges::sort(change_.removed);
  return std::move(change_);
}

}  // namespace fieldcost::report
