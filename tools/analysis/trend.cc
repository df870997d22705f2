#include "tools/analysis/trend.h"

#include <cmath>
#include <map>

#include "common/inference/machine_moments.h"
#include "common/stats/field_total.h"
#include "tools/analysis/row_selection.h"
#include "tools/analysis/version_order.h"

namespace fieldcost::analysis {
namespace {

TrendPoint PointOf(std::string label, const stats::ContributionScalars& scalars) {
  return {std::move(label), std::exp2(inference::MomentsOf(scalars).mean), scalars.contributions};
}

}  // namespace

stats::ApiSums MergeWidest(std::span<const stats::StatRow> rows, stats::Metric metric) {
  stats::ApiSums widest;
  int width = -1;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric != metric) continue;
    const int own = stats::StratumWidth(row.key);
    if (own < width) continue;
    if (own > width) widest = {};
    width = own;
    widest.Merge(row);
  }
  return widest;
}

std::vector<TrendPoint> WeeklyTrend(std::span<const stats::StatRow> rows, stats::Metric metric) {
  struct Week {
    stats::ContributionScalars all_classes;
    stats::ContributionScalars single_classes;
  };
  std::map<std::uint32_t, Week> weeks;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric != metric || row.key.week == 0) continue;
    Week& week = weeks[row.key.week];
    const bool all = row.key.hardware == stats::HardwareClass{};
    (all ? week.all_classes : week.single_classes).Merge(row.scalars);
  }
  std::vector<TrendPoint> points;
  for (const auto& [number, week] : weeks) {
    const stats::ContributionScalars& scalars =
        week.all_classes.contributions > 0 ? week.all_classes : week.single_classes;
    if (scalars.contributions > 0) points.push_back(PointOf(FirstDay(number), scalars));
  }
  return points;
}

std::vector<TrendPoint> VersionTrend(std::span<const stats::StatRow> rows, stats::Metric metric) {
  std::map<std::string, std::vector<stats::StatRow>, OlderVersion> versions;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric == metric) versions[VersionOf(row.key.api)].push_back(row);
  }
  std::vector<TrendPoint> points;
  for (const auto& [version, some] : versions) {
    const stats::ApiSums widest = MergeWidest(some, metric);
    if (widest.scalars.contributions > 0) points.push_back(PointOf(version, widest.scalars));
  }
  return points;
}

}  // namespace fieldcost::analysis
