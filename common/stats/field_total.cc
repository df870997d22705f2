#include "common/stats/field_total.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace fieldcost::stats {
namespace {

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
  return sums != nullptr && (whose == Whose::kOwn || KnowsBounds(*sums));
}

}  // namespace

int StratumWidth(const RowKey& key) {
  return (key.hardware == HardwareClass{} ? 2 : 0) + (key.week == 0 ? 1 : 0);
}

std::optional<std::uint64_t> FieldCalls(const ApiSums* wall_time, const ApiSums* calls_per_run,
                                        Whose whose) {
  const bool own = whose == Whose::kOwn;
  std::optional<Uint128> calls;
  if (IsKnown(wall_time, whose)) {
    calls = own ? wall_time->histogram.count() : wall_time->bounded.calls;
  }
  if (IsKnown(calls_per_run, whose)) {
    const Uint128 counted = own ? calls_per_run->histogram.sum() : calls_per_run->bounded.sum;
    calls = std::max(calls.value_or(0), counted);
  }
  if (!calls) return std::nullopt;
  const Uint128 most = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::min(*calls, most));
}

std::optional<double> FieldTotal(const ApiSums* wall_time, const ApiSums* calls_per_run,
                                 Whose whose) {
  if (!IsKnown(wall_time, whose)) return std::nullopt;
  const double mean =
      whose == Whose::kOwn ? wall_time->histogram.Mean() : wall_time->bounded.Mean();
  return mean * static_cast<double>(*FieldCalls(wall_time, calls_per_run, whose));
}

double FieldTotal(std::span<const StatRow> rows, Whose whose) {
  std::map<ApiKey, std::pair<Widest, Widest>> apis;
  for (const StatRow& row : rows) {
    if (row.key.metric == Metric::kWallTime) apis[row.key.api].first.Take(row);
    if (row.key.metric == Metric::kCallsPerRun) apis[row.key.api].second.Take(row);
  }
  double total = 0;
  for (const auto& [api, sums] : apis) {
    total += FieldTotal(sums.first.get(), sums.second.get(), whose).value_or(0);
  }
  return total;
}

}  // namespace fieldcost::stats
