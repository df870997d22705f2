#include "tools/analysis/version_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/check.h"
#include "common/inference/anomaly.h"
#include "common/inference/benjamini_hochberg.h"
#include "common/inference/effect_size.h"
#include "common/inference/machine_moments.h"
#include "common/stats/field_total.h"
#include "tools/analysis/version_order.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::HardwareClass;
using stats::Metric;
using stats::StatRow;

// One metric of one version in one hardware class, from rows over all weeks if there are any.
stats::ApiSums SumsOf(const std::vector<const StatRow*>& rows) {
  const bool whole =
      std::ranges::any_of(rows, [](const StatRow* row) { return row->key.week == 0; });
  stats::ApiSums sums;
  for (const StatRow* row : rows) {
    if ((row->key.week == 0) == whole) sums.Merge(*row);
  }
  return sums;
}

std::uint64_t MachinesOf(const stats::ApiSums& sums) {
  return sums.fullest_quarter.scalars.contributions;
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
      (hardware == HardwareClass{} ? all_ : classes_[hardware]) = SumsOf(some);
    }
    if (by_class.contains({})) return;
    for (const auto& [hardware, sums] : classes_) all_.Merge(sums);
  }

  const stats::ApiSums& all() const { return all_; }
  const std::map<HardwareClass, stats::ApiSums>& classes() const { return classes_; }

 private:
  stats::ApiSums all_;
  std::map<HardwareClass, stats::ApiSums> classes_;
};

struct Pair {
  const stats::ApiSums* before;
  const stats::ApiSums* after;
};

// The classes that both versions have, if they hold enough of the machines of both.
std::vector<Pair> CommonClasses(const VersionSide& before, const VersionSide& after) {
  std::vector<Pair> common;
  std::uint64_t covered_before = 0;
  std::uint64_t covered_after = 0;
  for (const auto& [hardware, sums] : before.classes()) {
    const auto other = after.classes().find(hardware);
    if (other == after.classes().end()) continue;
    if (MachinesOf(sums) < 2 || MachinesOf(other->second) < 2) continue;
    common.push_back({&sums, &other->second});
    covered_before += MachinesOf(sums);
    covered_after += MachinesOf(other->second);
  }
  const auto enough = [](std::uint64_t covered, const stats::ApiSums& all) {
    return static_cast<double>(covered) >= kLeastCovered * static_cast<double>(MachinesOf(all));
  };
  if (!enough(covered_before, before.all()) || !enough(covered_after, after.all())) common.clear();
  return common;
}

// Compares machines over all weeks.
double OctavesOf(const Pair& pair) {
  const stats::ContributionScalars& before = pair.before->scalars;
  const stats::ContributionScalars& after = pair.after->scalars;
  if (before.contributions == 0 || after.contributions == 0) return 0;
  return inference::MomentsOf(after).mean - inference::MomentsOf(before).mean;
}

// Compares machines if they are known on both sides, otherwise calls.
double DeltaOf(const Pair& pair) {
  const stats::ApiSums& before = *pair.before;
  const stats::ApiSums& after = *pair.after;
  const bool both = stats::KnowsMachines(before) && stats::KnowsMachines(after);
  return inference::CliffsDelta({&before.histogram, both ? &before.weights : nullptr},
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
  if (pairs.empty()) pairs.push_back({&before.all(), &after.all()});
  std::vector<inference::MachineStratum> strata;
  double weights = 0;
  double delta = 0;
  double octaves = 0;
  for (const Pair& pair : pairs) {
    strata.push_back({stats::ScalarsForTests(*pair.before), stats::ScalarsForTests(*pair.after)});
    const auto left = static_cast<double>(MachinesOf(*pair.before));
    const auto right = static_cast<double>(MachinesOf(*pair.after));
    // Uses the test's weights; if machines are unknown on a side, there is only one pair.
    const double weight = left * right == 0 ? 1 : left * right / (left + right);
    weights += weight;
    delta += weight * DeltaOf(pair);
    octaves += weight * OctavesOf(pair);
  }
  if (weights > 0) {
    change.delta = delta / weights;
    change.ratio = std::exp2(octaves / weights);
  }
  change.test = inference::CompareMachines(strata);
  const auto interval = change.test.ConfidenceInterval(kConfidence);
  change.ratio_low = std::exp2(interval.low);
  change.ratio_high = std::exp2(interval.high);
  return change;
}

// Combines all builds of the version.
std::vector<StatRow> WithoutBuilds(std::span<const StatRow> rows) {
  std::vector<StatRow> all(rows.begin(), rows.end());
  for (StatRow& row : all) row.key.api.build_id.clear();
  return all;
}

}  // namespace

std::string_view Words(Verdict verdict, Metric metric) {
  const bool is_time = stats::Unit(metric) == "ns" || stats::Unit(metric) == "cycles";
  return inference::Words(verdict,
                          is_time ? inference::Wording::kTime : inference::Wording::kAmount);
}

bool MetricChange::eligible() const {
  return inference::kFieldThresholds.IsEnough(std::min(timed_before, timed_after),
                                              std::min(test.machines_before, test.machines_after));
}

const MetricChange* ApiChange::Find(Metric metric) const {
  const auto found = std::ranges::find(metrics, metric, &MetricChange::metric);
  return found == metrics.end() ? nullptr : &*found;
}

MetricChange* ApiChange::Find(Metric metric) {
  return const_cast<MetricChange*>(std::as_const(*this).Find(metric));
}

ApiChange CompareApi(std::span<const StatRow> before, std::span<const StatRow> after) {
  FIELDCOST_CHECK(!before.empty() && !after.empty());
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
  change.total_after = TotalOf(new_numbers);
  for (const auto& [metric, summary] : old_numbers.metrics) {
    const MetricSummary* other = new_numbers.Find(metric);
    if (metric == Metric::kCallsPerRun || metric == Metric::kTimePerRun || other == nullptr)
      continue;
    MetricChange& added = change.metrics.emplace_back(CompareMetric(old_rows, new_rows, metric));
    added.before = summary.figures;
    added.after = other->figures;
    added.timed_before = summary.sums.histogram.timed();
    added.timed_after = other->sums.histogram.timed();
  }
  return change;
}

void Decide(std::span<MetricChange* const> changes) {
  std::vector<MetricChange*> eligible;
  std::vector<double> p_values;
  for (MetricChange* change : changes) {
    change->q = 1;
    change->change = Verdict::kTooLittleData;
    if (!change->eligible()) continue;
    eligible.push_back(change);
    p_values.push_back(change->test.p);
  }
  const std::vector<double> q_values = inference::AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < eligible.size(); ++i) {
    MetricChange& change = *eligible[i];
    change.q = q_values[i];
    // A test in the other direction does not confirm the ratio.
    const bool agrees = (change.test.octaves > 0) == (change.ratio > 1) && change.test.octaves != 0;
    change.change = inference::VerdictOf({agrees ? change.q : 1, change.ratio, change.delta},
                                         inference::kFieldThresholds);
  }
}

std::uint64_t LibraryChange::Count(Metric metric, Verdict wanted) const {
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

}  // namespace fieldcost::analysis
