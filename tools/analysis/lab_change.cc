#include "tools/analysis/lab_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "common/inference/benjamini_hochberg.h"
#include "common/inference/effect_size.h"
#include "common/stats/api_sums.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;

struct LabSide {
  stats::ApiSums all;
  std::map<stats::HardwareClass, stats::ContributionScalars> by_class;
};

using LabApiName =
    std::tuple<std::string, std::string, std::string>;  // soname, symbol, its version
using SidesByApi = std::map<LabApiName, LabSide>;

SidesByApi SumsOf(const wire::LabTable& table, stats::Metric metric) {
  SidesByApi sums;
  for (const stats::StatRow& row : table.rows) {
    if (row.key.metric != metric) continue;
    const stats::ApiKey& api = row.key.api;
    LabSide& side = sums[{api.soname, api.symbol, api.symbol_version}];
    side.all.Merge(row);
    side.by_class[row.key.hardware].Merge(row.scalars);
  }
  return sums;
}

std::vector<inference::MachineStratum> StrataOf(const LabSide& before, const LabSide& after) {
  std::vector<inference::MachineStratum> strata;
  for (const auto& [hardware, scalars] : before.by_class) {
    const auto other = after.by_class.find(hardware);
    if (other != after.by_class.end()) strata.push_back({scalars, other->second});
  }
  if (strata.empty()) strata.push_back({before.all.scalars, after.all.scalars});
  return strata;
}

LabChange CompareLab(const LabSide& before, const LabSide& after) {
  LabChange change;
  change.before = stats::FiguresOf(before.all, stats::Whose::kOwn);
  change.after = stats::FiguresOf(after.all, stats::Whose::kOwn);
  change.runs_before = before.all.scalars.contributions;
  change.runs_after = after.all.scalars.contributions;
  change.test = inference::CompareMachines(StrataOf(before, after));
  change.ratio = std::exp2(change.test.octaves);
  change.delta = inference::CliffsDelta({.histogram = &before.all.histogram},
                                        {.histogram = &after.all.histogram});
  return change;
}

bool HasEnough(const LabChange& change) {
  return std::min(change.test.machines_before, change.test.machines_after) >=
         inference::kLabThresholds.least_values;
}

void DecideLab(std::vector<LabChange>& changes) {
  std::vector<double> p_values;
  for (const LabChange& change : changes) {
    if (HasEnough(change)) p_values.push_back(change.test.p);
  }
  const std::vector<double> q_values = inference::AdjustForFalseDiscoveries(p_values);
  auto q = q_values.begin();
  for (LabChange& change : changes) {
    if (!HasEnough(change)) continue;
    change.q = *q++;
    change.change =
        inference::VerdictOf({change.q, change.ratio, change.delta}, inference::kLabThresholds);
  }
}

// The sort key; smaller keys come first.
auto LabOrder(const LabChange& change) {
  const bool more = change.change == Verdict::kMore;
  const bool less = change.change == Verdict::kLess;
  const int kind = more ? 0 : less ? 1 : change.change == Verdict::kNone ? 2 : 3;
  const double strength = more ? -change.ratio : less ? change.ratio : 0;
  return std::tuple(kind, strength, change.soname, change.symbol, change.symbol_version);
}

}  // namespace

std::vector<LabChange> CompareLabTables(const wire::LabTable& before, const wire::LabTable& after,
                                        stats::Metric metric) {
  const SidesByApi old = SumsOf(before, metric);
  std::vector<LabChange> changes;
  for (const auto& [name, side] : SumsOf(after, metric)) {
    const auto found = old.find(name);
    if (found == old.end()) continue;
    LabChange change = CompareLab(found->second, side);
    std::tie(change.soname, change.symbol, change.symbol_version) = name;
    change.metric = metric;
    changes.push_back(std::move(change));
  }
  DecideLab(changes);
  std::ranges::sort(changes, {}, LabOrder);
  return changes;
}

}  // namespace fieldcost::analysis
