#include "tools/analysis/lab_counts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/stats/cost_histogram.h"
#include "common/stats/metric_traits.h"
#include "tools/analysis/lab_change.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::Metric;
using wire::LabTotal;

// With fewer runs, ranges are too narrow for a comparison.
constexpr std::uint32_t kLeastVaryingRuns = 3;
constexpr char kLibc[] = "libc.so.6";

using ApiName = std::tuple<std::string, std::string, std::string>;  // soname, symbol, its version
using Totals = std::map<Metric, LabTotal>;

ApiName ApiNameOf(const stats::ApiKey& api) { return {api.soname, api.symbol, api.symbol_version}; }

// The data of an API in one table.
struct Api {
  Totals totals;
  std::set<std::uint32_t> callers;  // indices of APIs on the stack when it was entered
  std::set<std::uint32_t> callees;
  std::uint32_t depth = ~0U;  // in its shortest stack; 0 = outermost
  double time_ns = 0;         // of `timed` calls
  double timed = 0;
};

struct CountSide {
  std::map<ApiName, std::uint32_t> numbers;
  std::vector<Api> apis;  // by number
  std::uint32_t runs = 0;
  std::set<std::string> selected;  // globs of the measurements
};

void AddTotal(const LabTotal& total, Totals& totals) {
  const auto [place, is_new] = totals.emplace(total.metric, total);
  if (is_new) return;
  bool saturated = false;
  place->second.least = stats::SaturatingAdd(place->second.least, total.least, saturated);
  place->second.most = stats::SaturatingAdd(place->second.most, total.most, saturated);
}

std::uint32_t NumberOf(CountSide& side, const stats::ApiKey& api) {
  const auto [place, is_new] =
      side.numbers.emplace(ApiNameOf(api), static_cast<std::uint32_t>(side.apis.size()));
  if (is_new) side.apis.emplace_back();
  return place->second;
}

// Reads totals. If a value is unknown for one build of a library, it is unknown for all.
std::vector<std::uint32_t> AddApis(const wire::LabTable& table, CountSide& side) {
  std::vector<std::uint32_t> numbers;  // by index in the table
  std::set<std::pair<std::uint32_t, Metric>> unknown;
  for (const wire::LabApi& api : table.apis) {
    numbers.push_back(NumberOf(side, api.api));
    std::set<Metric> missing;
    for (const stats::MetricTraits& traits : stats::kMetrics) {
      if (traits.is_exact) missing.insert(traits.metric);
    }
    for (const LabTotal& total : api.totals) {
      missing.erase(total.metric);
      AddTotal(total, side.apis[numbers.back()].totals);
    }
    for (const Metric metric : missing) unknown.emplace(numbers.back(), metric);
  }
  for (const auto& [number, metric] : unknown) side.apis[number].totals.erase(metric);
  return numbers;
}

CountSide SideOf(const wire::LabTable& table) {
  CountSide side;
  const std::vector<std::uint32_t> numbers = AddApis(table, side);
  for (const auto& [outer, inner] : table.pairs) {
    side.apis[numbers[outer]].callees.insert(numbers[inner]);
    side.apis[numbers[inner]].callers.insert(numbers[outer]);
  }
  std::vector<std::uint32_t> depths;
  for (const wire::LabStack& node : table.stacks) {
    depths.push_back(node.parent == wire::LabStack::kRoot ? 0 : depths[node.parent] + 1);
    std::uint32_t& depth = side.apis[numbers[node.api]].depth;
    depth = std::min(depth, depths.back());
  }
  for (const stats::StatRow& row : table.rows) {
    if (row.key.metric != Metric::kWallTime) continue;
    Api& api = side.apis[NumberOf(side, row.key.api)];
    api.time_ns += static_cast<double>(row.histogram.sum());
    api.timed += static_cast<double>(row.histogram.count());
  }
  for (const wire::LabPart& part : table.parts) {
    side.runs = side.selected.empty() ? part.counted_runs : std::min(side.runs, part.counted_runs);
    side.selected.insert(part.apis);
  }
  return side;
}

// The total of the metric; 0 for an API that was never called.
std::optional<LabTotal> SideTotal(const CountSide& side, const ApiName& name, Metric metric) {
  const auto number = side.numbers.find(name);
  if (number == side.numbers.end()) return LabTotal{.metric = metric};
  const Totals& totals = side.apis[number->second].totals;
  const auto total = totals.find(metric);
  if (total == totals.end()) return std::nullopt;
  return total->second;
}

// Whether `high` is above `low` by the rule of LabCount::change.
bool IsAbove(const LabTotal& high, const LabTotal& low, std::uint32_t runs) {
  if (high.least <= low.most) return false;
  const std::uint64_t width = std::max(high.most - high.least, low.most - low.least);
  return width == 0 || (runs >= kLeastVaryingRuns && high.least - low.most > width);
}

bool IsMuchAbove(const LabTotal& high, const LabTotal& low) {
  return static_cast<double>(high.least) >=
         inference::kLabThresholds.least_ratio * static_cast<double>(low.most);
}

void DecideCount(LabCount& count, std::uint32_t runs) {
  if (IsAbove(count.after, count.before, runs)) {
    count.change = Verdict::kMore;
    count.decides = runs >= kLeastCountedRuns && IsMuchAbove(count.after, count.before);
  } else {
    count.change = IsAbove(count.before, count.after, runs) ? Verdict::kLess : Verdict::kNone;
  }
}

std::uint64_t Difference(const LabCount& count) {
  return std::max(count.after.least, count.before.least) -
         std::min(count.after.least, count.before.least);
}

// The factor of increase or decrease; adding one half avoids division by zero.
double Factor(const LabCount& count) {
  const double ratio = (static_cast<double>(count.after.least) + 0.5) /
                       (static_cast<double>(count.before.least) + 0.5);
  return std::max(ratio, 1 / ratio);
}

// Changes of one metric in one direction, by the API's index on the side with the higher count.
using Changes = std::map<std::uint32_t, const LabCount*>;

// If two APIs call each other, the one with the shorter stack is first.
bool IsFirst(const CountSide& side, std::uint32_t outer, std::uint32_t inner) {
  return !side.apis[inner].callees.contains(outer) ||
         side.apis[outer].depth < side.apis[inner].depth;
}

// Whether a caller's change explains this one: its factor is at least half as large.
bool FollowsCaller(std::uint32_t number, const LabCount& count, const Changes& same,
                   const CountSide& side) {
  const auto& callers = side.apis[number].callers;
  return std::any_of(callers.begin(), callers.end(), [&](std::uint32_t caller) {
    const auto change = same.find(caller);
    return caller != number && change != same.end() && IsFirst(side, caller, number) &&
           Factor(*change->second) * 2 >= Factor(count);
  });
}

// Whether a callee's change explains this one: it is at least half as large in bytes.
bool FollowsCallee(std::uint32_t number, const LabCount& count, const Changes& same,
                   const CountSide& side) {
  const auto& callees = side.apis[number].callees;
  return std::any_of(callees.begin(), callees.end(), [&](std::uint32_t callee) {
    const auto change = same.find(callee);
    if (callee == number || change == same.end() || !IsFirst(side, number, callee)) return false;
    // The bytes of the allocator and of read() are attributed to their callers.
    return change->second->soname != kLibc && Difference(*change->second) >= Difference(count) / 2;
  });
}

// Marks the changes in one direction that follow from others.
void MarkFollowers(Verdict direction, const CountSide& side, std::vector<LabCount>& counts) {
  std::map<Metric, Changes> changes;
  const auto number_of = [&side](const LabCount& count) {
    return side.numbers.find({count.soname, count.symbol, count.symbol_version});
  };
  for (const LabCount& count : counts) {
    if (count.change != direction) continue;
    changes[count.metric].emplace(number_of(count)->second, &count);
  }
  const Changes& calls = changes[Metric::kCallsPerRun];
  for (LabCount& count : counts) {
    if (count.change != direction) continue;
    const std::uint32_t number = number_of(count)->second;
    const Api& api = side.apis[number];
    const Changes& same = changes[count.metric];
    if (count.metric == Metric::kCallsPerRun) {
      count.follows = FollowsCaller(number, count, same, side);
      const double mean = api.timed > 0 ? api.time_ns / api.timed : 0;
      count.effect_ns = mean * static_cast<double>(Difference(count));
    } else {
      count.follows = calls.contains(number) || FollowsCallee(number, count, same, side);
    }
  }
}

// The sort key; smaller keys come first.
auto CountOrder(const LabCount& count) {
  const int kind = count.decides                             ? 0
                   : count.change == Verdict::kMore          ? 1
                   : count.change == Verdict::kLess          ? 2
                   : count.change == Verdict::kTooLittleData ? 4
                                                             : 3;
  return std::tuple(kind, count.follows, count.metric != Metric::kCallsPerRun, -count.effect_ns,
                    ~Difference(count), count.soname, count.symbol, count.symbol_version);
}

// The APIs that can be compared.
std::set<ApiName> NamesOf(const CountSide& old, const CountSide& now) {
  const bool same_selection = old.selected == now.selected;
  std::set<ApiName> names;
  for (const auto& [name, number] : old.numbers) {
    if (same_selection || now.numbers.contains(name)) names.insert(name);
  }
  for (const auto& [name, number] : now.numbers) {
    if (same_selection || old.numbers.contains(name)) names.insert(name);
  }
  return names;
}

void CompareCounts(const CountSide& old, const CountSide& now, const ApiName& name,
                   LabCounts& counts) {
  for (const stats::MetricTraits& traits : stats::kMetrics) {
    if (!traits.is_exact) continue;
    const Metric metric = traits.metric;
    const std::optional<LabTotal> before = SideTotal(old, name, metric);
    const std::optional<LabTotal> after = SideTotal(now, name, metric);
    if (!before && !after) continue;
    LabCount count{.metric = metric,
                   .before = before.value_or(LabTotal{.metric = metric}),
                   .after = after.value_or(LabTotal{.metric = metric})};
    std::tie(count.soname, count.symbol, count.symbol_version) = name;
    if (before && after) DecideCount(count, std::min(old.runs, now.runs));
    if (metric == Metric::kCallsPerRun) {
      counts.vary_before += count.VariesBefore() ? 1 : 0;
      counts.vary_after += count.VariesAfter() ? 1 : 0;
    }
    counts.apis.push_back(std::move(count));
  }
}

}  // namespace

LabCounts CompareLabCounts(const wire::LabTable& before, const wire::LabTable& after) {
  LabCounts counts;
  if (before.parts.size() != after.parts.size()) return counts;
  const CountSide old = SideOf(before);
  const CountSide now = SideOf(after);
  counts.runs_before = old.runs;
  counts.runs_after = now.runs;
  counts.is_compared = std::min(old.runs, now.runs) != 0;
  if (!counts.is_compared) return counts;
  for (const ApiName& name : NamesOf(old, now)) CompareCounts(old, now, name, counts);
  MarkFollowers(Verdict::kMore, now, counts.apis);
  MarkFollowers(Verdict::kLess, old, counts.apis);
  std::ranges::sort(counts.apis, {}, CountOrder);
  return counts;
}

bool IsCounted(stats::Metric metric) { return stats::TraitsOf(metric).is_exact; }

}  // namespace fieldcost::analysis
