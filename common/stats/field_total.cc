#include "common/stats/field_total.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace fieldcost::stats {
namespace {

struct Widest {
  int width = -1;
  CostHistogram histogram;

  void Take(const StatRow& row) {
    const int row_width = StratumWidth(row.key);
    if (row_width < width) return;
    if (row_width > width) histogram = {};
    width = row_width;
    histogram.Merge(row.histogram);
  }
  const CostHistogram* get() const { return width < 0 ? nullptr : &histogram; }
};

}  // namespace

int StratumWidth(const RowKey& key) {
  return (key.hardware == HardwareClass{} ? 2 : 0) + (key.week == 0 ? 1 : 0);
}

std::optional<std::uint64_t> FieldCalls(const CostHistogram* wall_time,
                                        const CostHistogram* calls_per_run) {
  if (wall_time == nullptr && calls_per_run == nullptr) return std::nullopt;
  const Uint128 timed = wall_time == nullptr ? 0 : wall_time->count();
  const Uint128 counted = calls_per_run == nullptr ? 0 : calls_per_run->sum();
  const Uint128 most = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::min(std::max(timed, counted), most));
}

double FieldTotal(const CostHistogram* wall_time, const CostHistogram* calls_per_run) {
  if (wall_time == nullptr) return 0;
  return wall_time->Mean() * static_cast<double>(*FieldCalls(wall_time, calls_per_run));
}

double FieldTotal(std::span<const StatRow> rows) {
  std::map<ApiKey, std::pair<Widest, Widest>> apis;
  for (const StatRow& row : rows) {
    if (row.key.metric == Metric::kWallTime) apis[row.key.api].first.Take(row);
    if (row.key.metric == Metric::kCallsPerRun) apis[row.key.api].second.Take(row);
  }
  double total = 0;
  for (const auto& [api, sums] : apis) total += FieldTotal(sums.first.get(), sums.second.get());
  return total;
}

}  // namespace fieldcost::stats
