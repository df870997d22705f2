#include "tools/analysis/vendor_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "common/inference/anomaly.h"
#include "common/inference/benjamini_hochberg.h"
#include "common/inference/tails.h"
#include "common/names/cxx_name.h"
#include "common/stats/field_total.h"
#include "tools/analysis/name_prefix.h"
#include "tools/analysis/namespace_of.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/version_order.h"
#include "tools/analysis/waiting.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::Metric;
using stats::StatRow;
using RowsByVersion = std::map<std::string, std::vector<StatRow>, OlderVersion>;

// Adds values, ignoring unknown ones.
template <typename Number>
void AddKnown(const std::optional<Number>& some, std::optional<Number>& sum) {
  if (some) sum = sum.value_or(0) + *some;
}
void AddKnown(const std::optional<stats::FieldCost>& some, std::optional<stats::FieldCost>& sum) {
  if (!some) return;
  if (!sum) sum.emplace();
  sum->Add(*some);
}

// Adds the sums of one version.
void AddUse(const std::vector<StatRow>& rows, stats::Whose whose, VendorApi& api) {
  const stats::ApiSums time = MergeWidest(rows, Metric::kWallTime);
  const stats::ApiSums busy = MergeWidest(rows, Metric::kWallTimeBusy);
  const stats::ApiSums runs = MergeWidest(rows, Metric::kCallsPerRun);
  const stats::ApiSums per_run = MergeWidest(rows, Metric::kTimePerRun);
  const stats::TotalParts parts{.wall_time = &time,
                                .wall_time_busy = &busy,
                                .calls_per_run = &runs,
                                .time_per_run = &per_run};
  AddKnown(stats::FieldCalls(parts, whose), api.calls);
  AddKnown(stats::FieldTotal(parts, whose), api.total);
  api.contributions += time.scalars.contributions;
}

void AddNewest(std::vector<StatRow> rows, stats::Whose whose, VendorApi& api) {
  for (StatRow& row : rows) row.key.api.build_id.clear();
  const CostSummary summary = Summarise(rows, whose).front();
  const MetricSummary* time = summary.Find(Metric::kWallTime);
  api.sums = time->sums;
  api.time = time->figures;
  api.bars = draw::BarsOf(api.sums, api.time, Metric::kWallTime);
  if (const MetricSummary* alloc = summary.Find(Metric::kAllocInclusive)) {
    api.alloc_mean = alloc->figures.mean;
  }
}

double ShareOf(const std::optional<stats::FieldCost>& some,
               const std::optional<stats::FieldCost>& all) {
  if (!some || !all || some->of_all_runs != all->of_all_runs || !(all->ns > 0)) return 0;
  return some->ns / all->ns;
}

void AddChanges(const RowsByVersion& versions, const VendorLibrary& library, VendorApi& api) {
  const auto before = versions.find(library.before);
  const auto after = versions.find(library.after);
  if (library.before.empty() || before == versions.end() || after == versions.end()) return;
  ApiChange change = CompareApi(before->second, after->second);
  api.changes = std::move(change.metrics);
  api.total_after = change.total_after;
}

VendorApi MakeApi(const RowsByVersion& versions, const VendorLibrary& library, stats::Whose whose) {
  VendorApi api;
  const stats::ApiKey& key = versions.begin()->second.front().key.api;
  api.symbol = key.symbol;
  api.symbol_version = key.symbol_version;
  api.name = names::DemangledName(key.symbol);
  api.name_space = NamespaceOf(key.symbol);
  std::vector<StatRow> all;
  const std::vector<StatRow>* newest = nullptr;
  for (const auto& [version, rows] : versions) {
    AddUse(rows, whose, api);
    all.insert(all.end(), rows.begin(), rows.end());
    if (std::ranges::none_of(
            rows, [](const StatRow& row) { return row.key.metric == Metric::kWallTime; })) {
      continue;
    }
    newest = &rows;
    api.version = version;
  }
  api.versions = VersionTrend(all, Metric::kWallTime);
  api.weeks = WeeklyTrend(all, Metric::kWallTime);
  if (newest != nullptr) AddNewest(*newest, whose, api);
  AddChanges(versions, library, api);
  return api;
}

// The inputs to a group's ratio.
struct Combined {
  double weights = 0;
  double octaves = 0;
  double standard_error = 0;
  double freedom = std::numeric_limits<double>::infinity();
};

void Combine(const VendorApi& api, Combined& combined) {
  const MetricChange* time = api.Time();
  if (time == nullptr || !time->eligible()) return;
  const double weight = static_cast<double>(time->before.sum.value_or(0));
  combined.weights += weight;
  combined.octaves += weight * time->test.octaves;
  combined.standard_error += weight * time->test.standard_error;
  combined.freedom = std::min(combined.freedom, time->test.degrees_of_freedom);
}

void Conclude(const Combined& combined, VendorGroup& group) {
  if (!(combined.weights > 0)) {
    group.ratio_high = std::numeric_limits<double>::infinity();
    return;
  }
  const double octaves = combined.octaves / combined.weights;
  const double error = combined.standard_error / combined.weights;
  const double reach =
      error * inference::StudentTUpperQuantile((1 - kConfidence) / 2, combined.freedom);
  group.ratio = std::exp2(octaves);
  group.ratio_low = std::exp2(octaves - reach);
  group.ratio_high = std::exp2(octaves + reach);
  group.p =
      std::clamp(2 * inference::StudentTUpperTail(std::abs(octaves) / error, combined.freedom),
                 std::numeric_limits<double>::min(), 1.0);
  group.change = Verdict::kNone;
}

void DecideGroups(std::vector<VendorGroup>& groups) {
  std::vector<VendorGroup*> eligible;
  std::vector<double> p_values;
  for (VendorGroup& group : groups) {
    if (group.change == Verdict::kTooLittleData) continue;
    eligible.push_back(&group);
    p_values.push_back(group.p);
  }
  const std::vector<double> q_values = inference::AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < eligible.size(); ++i) {
    VendorGroup& group = *eligible[i];
    group.q = q_values[i];
    group.change =
        inference::VerdictOf({.q = group.q, .ratio = group.ratio}, inference::kFieldThresholds);
  }
}

// A group's soname and name.
using GroupKey = std::pair<std::string, std::string>;

bool IsC(const VendorApi& api) { return api.name == api.symbol && !names::IsCxxSymbol(api.symbol); }

// The group of each API.
std::vector<GroupKey> KeysOf(const VendorReport& report, const HeaderOf& headers) {
  std::set<std::string> c_names;
  for (const VendorApi& api : report.apis) {
    if (report.by == GroupBy::kPrefix && IsC(api)) c_names.insert(api.symbol);
  }
  const std::map<std::string, std::string> prefixes = GroupByPrefix(c_names);
  std::vector<GroupKey> keys;
  for (const VendorApi& api : report.apis) {
    const std::string& soname = report.libraries[api.library].soname;
    switch (report.by) {
      case GroupBy::kModule:
        keys.emplace_back(soname, "");
        break;
      case GroupBy::kNamespace:
        keys.emplace_back("", api.name_space);
        break;
      case GroupBy::kBoth:
        keys.emplace_back(soname, api.name_space);
        break;
      case GroupBy::kPrefix:
        keys.emplace_back("", IsC(api) ? prefixes.at(api.symbol) : api.name_space);
        break;
      case GroupBy::kHeader: {
        const auto header = headers.find(api.symbol);
        keys.emplace_back("", header == headers.end() ? kUnknownHeader : header->second);
        break;
      }
    }
  }
  return keys;
}

void CountChange(const VendorApi& api, VendorGroup& group) {
  const MetricChange* time = api.Time();
  if (time == nullptr) return;
  switch (time->change) {
    case Verdict::kMore:
      ++group.slower;
      break;
    case Verdict::kLess:
      ++group.faster;
      break;
    case Verdict::kNone:
      ++group.unchanged;
      break;
    case Verdict::kTooLittleData:
      ++group.too_little;
      break;
  }
}

void AddToGroup(const VendorApi& api, VendorGroup& group) {
  ++group.apis;
  AddKnown(api.calls, group.calls);
  AddKnown(api.total, group.total);
  group.contributions = std::max(group.contributions, api.contributions);
  CountChange(api, group);
  if (api.version.empty()) return;  // its time is unknown
  ++group.timed_apis;
  group.sums.Merge(api.sums);
  group.all_calls_known = group.all_calls_known && api.time.all_calls.has_value();
  group.time.few_machines = group.time.few_machines || api.time.few_machines;
}

// The figures of a group with known times. The calls of its APIs differ, so typical machines and
// all calls need not agree. The latter are shown if they are shown for each API.
stats::Figures FiguresOfGroup(const VendorGroup& group, stats::Whose whose) {
  stats::Figures figures = stats::FiguresOf(group.sums, whose);
  figures.few_machines = group.time.few_machines;
  figures.all_calls.reset();
  if (group.all_calls_known) {
    figures.all_calls = stats::FiguresOf(group.sums, stats::Whose::kOwn).all_calls;
  }
  return figures;
}

// Forms the groups and assigns each API to one.
void MakeGroups(VendorReport& report, const HeaderOf& headers) {
  struct Sums {
    VendorGroup group;
    Combined combined;
  };
  const std::vector<GroupKey> keys = KeysOf(report, headers);
  std::map<GroupKey, Sums> groups;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto& [group, combined] = groups[keys[i]];
    std::tie(group.soname, group.group) = keys[i];
    AddToGroup(report.apis[i], group);
    Combine(report.apis[i], combined);
  }
  // Concludes each group, then decides which of all changes are significant.
  for (auto& [key, sums] : groups) {
    auto& [group, combined] = sums;
    group.share = ShareOf(group.total, report.total);
    if (group.timed_apis != 0) {
      group.time = FiguresOfGroup(group, report.whose);
      group.bars = draw::BarsOf(group.sums, group.time, Metric::kWallTime);
    }
    Conclude(combined, group);
    report.groups.push_back(std::move(group));
  }
  DecideGroups(report.groups);
  std::ranges::stable_sort(report.groups, std::ranges::greater{}, &VendorGroup::total);
  std::map<GroupKey, std::size_t> places;
  for (const VendorGroup& group : report.groups) {
    places.try_emplace({group.soname, group.group}, places.size());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) report.apis[i].group = places.at(keys[i]);
}

}  // namespace

const MetricChange* VendorApi::Time() const {
  const auto found = std::ranges::find(changes, Metric::kWallTime, &MetricChange::metric);
  return found == changes.end() ? nullptr : &*found;
}

std::optional<stats::FieldCost> VendorApi::Regression() const {
  const MetricChange* change = Time();
  if (change == nullptr || change->change != Verdict::kMore || !total_after) return std::nullopt;
  const double part = 1 - 1 / change->ratio;
  return stats::FieldCost{.of_all_runs = total_after->of_all_runs,
                          .ns = total_after->ns * part,
                          .standard_error_ns = total_after->standard_error_ns * part};
}

bool VendorReport::HasWeeks() const {
  return std::ranges::any_of(apis, [](const VendorApi& api) { return !api.weeks.empty(); });
}

VendorReportBuilder::VendorReportBuilder(std::string title, GroupBy by, stats::Whose whose) {
  report_.title = std::move(title);
  report_.by = by;
  report_.whose = whose;
}

void VendorReportBuilder::Begin(VendorLibrary library) {
  report_.libraries.push_back(std::move(library));
}

void VendorReportBuilder::Add(std::span<const StatRow> rows) {
  const VendorLibrary& library = report_.libraries.back();
  std::map<std::pair<std::string, std::string>, RowsByVersion> by_symbol;  // and its version
  for (const StatRow& row : rows) {
    const stats::ApiKey& api = row.key.api;
    if (api.soname == library.soname) {
      by_symbol[{api.symbol, api.symbol_version}][VersionOf(api)].push_back(row);
    }
  }
  for (const auto& [symbol, versions] : by_symbol) {
    VendorApi api = MakeApi(versions, library, report_.whose);
    api.library = report_.libraries.size() - 1;
    const bool waits = IsWaiting({.soname = library.soname, .symbol = api.symbol});
    (waits ? report_.waiting : report_.apis).push_back(std::move(api));
  }
}

VendorReport VendorReportBuilder::Finish(const HeaderOf& headers) {
  std::vector<MetricChange*> changes;
  for (VendorApi& api : report_.apis) {
    AddKnown(api.total, report_.total);
    AddKnown(api.calls, report_.calls);
    for (MetricChange& change : api.changes) changes.push_back(&change);
  }
  Decide(changes);
  report_.compared = static_cast<std::uint64_t>(
      std::ranges::count_if(changes, [](const MetricChange* one) { return one->eligible(); }));
  for (VendorApi& api : report_.apis) api.share = ShareOf(api.total, report_.total);
  std::ranges::sort(report_.apis, [](const VendorApi& a, const VendorApi& b) {
    if (a.total != b.total) return a.total > b.total;
    return std::tie(a.library, a.symbol, a.symbol_version) <
           std::tie(b.library, b.symbol, b.symbol_version);
  });
  MakeGroups(report_, headers);
  return std::move(report_);
}

std::vector<ChangedApi> WithChange(const VendorReport& report, Verdict change) {
  std::vector<ChangedApi> found;
  for (const VendorApi& api : report.apis) {
    for (const MetricChange& metric : api.changes) {
      if (metric.change == change) found.emplace_back(&api, &metric);
    }
  }
  std::ranges::stable_sort(found, [](const ChangedApi& a, const ChangedApi& b) {
    const auto more_a = a.first->Regression();
    const auto more_b = b.first->Regression();
    if (more_a != more_b) return more_a > more_b;
    return std::abs(a.second->test.octaves) > std::abs(b.second->test.octaves);
  });
  return found;
}

std::string NameOf(const VendorGroup& group) {
  if (group.soname.empty()) return group.group;
  return group.group.empty() ? group.soname : group.soname + ", " + group.group;
}

}  // namespace fieldcost::analysis
