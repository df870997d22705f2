#include "common/stats/field_total.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace fieldcost::stats {
namespace {

constexpr std::array<Metric, 4> kParts = {Metric::kWallTime, Metric::kWallTimeBusy,
                                          Metric::kCallsPerRun, Metric::kTimePerRun};

struct Widest {
  int width = -1;
  ApiSums sums;

  void Take(const StatRow& row) {
    const int row_width = StratumWidth(row.key);
    if (row_width < width) return;
    if (row_width > width) sums = {};
    width = row_width;
    sums.Merge(row);
  }
  const ApiSums* get() const { return width < 0 ? nullptr : &sums; }
};

bool IsKnown(const ApiSums* sums, Whose whose) {
  return sums != nullptr && !sums->histogram.empty() &&
         (whose == Whose::kOwn || KnowsBounds(*sums));
}

// Calls and their total cost, as far as they may be reported.
Bucket CallsAndCost(const ApiSums* sums, Whose whose) {
  if (!IsKnown(sums, whose)) return {};
  if (whose == Whose::kOwn) return sums->histogram.Totals();
  return {.count = sums->bounded.calls, .sum = sums->bounded.sum};
}

// Sums both classes of load.
Bucket TimedCalls(const TotalParts& parts, Whose whose) {
  bool saturated = false;
  Bucket all = CallsAndCost(parts.wall_time, whose);
  const Bucket busy = CallsAndCost(parts.wall_time_busy, whose);
  all.count = SaturatingAdd(all.count, busy.count, saturated);
  all.sum = SaturatingAdd(all.sum, busy.sum, saturated);
  return all;
}

// A drawn run of cost T represents W runs, so the variance of the sum of W T is about the sum of
// (W T)^2. Only the sum of W T^2 and the mean of W are known.
FieldCost OfAllRuns(const ApiSums& time_per_run, Whose whose) {
  const Bucket drawn = time_per_run.histogram.Totals();
  const auto runs = static_cast<double>(time_per_run.histogram.timed());
  const auto sum = static_cast<double>(drawn.sum);
  const double mean_weight = runs > 0 ? static_cast<double>(drawn.count) / runs : 0;
  const double error = std::sqrt(mean_weight * static_cast<double>(drawn.sum_of_squares));
  FieldCost cost{.of_all_runs = true};
  cost.ns = static_cast<double>(whose == Whose::kOwn ? drawn.sum : time_per_run.bounded.sum);
  cost.standard_error_ns = sum > 0 ? error / sum * cost.ns : 0;
  return cost;
}

}  // namespace

int StratumWidth(const RowKey& key) {
  return (key.hardware == HardwareClass{} ? 2 : 0) + (key.week == 0 ? 1 : 0);
}

std::optional<std::uint64_t> FieldCalls(const TotalParts& parts, Whose whose) {
  const bool known = IsKnown(parts.wall_time, whose) || IsKnown(parts.wall_time_busy, whose) ||
                     IsKnown(parts.calls_per_run, whose);
  if (!known) return std::nullopt;
  constexpr Uint128 kMost = std::numeric_limits<std::uint64_t>::max();
  const Uint128 counted = CallsAndCost(parts.calls_per_run, whose).sum;
  const Uint128 calls = std::max(Uint128{TimedCalls(parts, whose).count}, counted);
  return static_cast<std::uint64_t>(std::min(calls, kMost));
}

void FieldCost::Add(const FieldCost& other) {
  if (of_all_runs && !other.of_all_runs) return;
  if (other.of_all_runs && !of_all_runs) *this = {.of_all_runs = true};
  ns += other.ns;
  standard_error_ns = std::hypot(standard_error_ns, other.standard_error_ns);
}

std::partial_ordering FieldCost::operator<=>(const FieldCost& other) const {
  if (of_all_runs != other.of_all_runs) return of_all_runs <=> other.of_all_runs;
  return ns <=> other.ns;
}

std::optional<FieldCost> FieldTotal(const TotalParts& parts, Whose whose) {
  if (IsKnown(parts.time_per_run, whose)) return OfAllRuns(*parts.time_per_run, whose);
  const Bucket timed = TimedCalls(parts, whose);
  if (timed.count == 0) return std::nullopt;
  const double mean = static_cast<double>(timed.sum) / static_cast<double>(timed.count);
  return FieldCost{.ns = mean * static_cast<double>(*FieldCalls(parts, whose))};
}

FieldCost FieldTotal(std::span<const StatRow> rows, Whose whose) {
  std::map<ApiKey, std::array<Widest, kParts.size()>> apis;
  for (const StatRow& row : rows) {
    const auto part = std::find(kParts.begin(), kParts.end(), row.key.metric);
    if (part == kParts.end()) continue;
    apis[row.key.api][static_cast<std::size_t>(part - kParts.begin())].Take(row);
  }
  FieldCost total;
  for (const auto& [api, sums] : apis) {
    const TotalParts parts{.wall_time = sums[0].get(),
                           .wall_time_busy = sums[1].get(),
                           .calls_per_run = sums[2].get(),
                           .time_per_run = sums[3].get()};
    if (const auto cost = FieldTotal(parts, whose)) total.Add(*cost);
  }
  return total;
}

}  // namespace fieldcost::stats
