#include "tools/analysis/summary.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <utility>

#include "common/base/check.h"

namespace fieldcost::analysis {
namespace {

const stats::ApiSums* SumsOf(const CostSummary& summary, stats::Metric metric) {
  const MetricSummary* numbers = summary.Find(metric);
  return numbers == nullptr ? nullptr : &numbers->sums;
}

stats::Whose WhoseIs(const CostSummary& summary) {
  return summary.metrics.empty() ? stats::Whose::kField
                                 : summary.metrics.begin()->second.figures.whose;
}

stats::TotalParts PartsOf(const CostSummary& summary) {
  return {.wall_time = SumsOf(summary, stats::Metric::kWallTime),
          .wall_time_busy = SumsOf(summary, stats::Metric::kWallTimeBusy),
          .calls_per_run = SumsOf(summary, stats::Metric::kCallsPerRun),
          .time_per_run = SumsOf(summary, stats::Metric::kTimePerRun)};
}

// The reasons in a row's values; ignores those that a newer program may add.
std::uint32_t ReasonsIn(const stats::CostHistogram& histogram) {
  std::uint32_t reasons = 0;
  for (std::uint32_t reason = 1; reason <= shm::kAllNotMeasured; reason *= 2) {
    if (histogram.bucket(shm::SlotOf(reason)).count != 0) reasons |= reason;
  }
  return reasons;
}

// Unknown values sort lowest.
std::partial_ordering OrderOf(const std::optional<stats::FieldCost>& a,
                              const std::optional<stats::FieldCost>& b) {
  if (a && b) return *a <=> *b;
  return a.has_value() <=> b.has_value();
}

}  // namespace

std::optional<std::uint64_t> CallsOf(const CostSummary& summary) {
  return stats::FieldCalls(PartsOf(summary), WhoseIs(summary));
}

std::optional<stats::FieldCost> TotalOf(const CostSummary& summary) {
  return stats::FieldTotal(PartsOf(summary), WhoseIs(summary));
}

const MetricSummary* CostSummary::Find(stats::Metric metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? nullptr : &found->second;
}

const MetricSummary* CostSummary::FindTime() const {
  const MetricSummary* time = Find(stats::Metric::kWallTime);
  return time != nullptr ? time : Find(stats::Metric::kWallTimeBusy);
}

bool CostSummary::IsOnlyOfBusyMachines() const {
  return Find(stats::Metric::kWallTime) == nullptr && FindTime() != nullptr;
}

bool CostSummary::IsPartly(stats::Metric metric) const {
  return (shm::MetricsNotMeasured(not_measured) & shm::BitOf(metric)) != 0;
}

std::vector<CostSummary> Summarise(std::span<const stats::StatRow* const> rows,
                                   stats::Whose whose) {
  std::map<std::pair<stats::ApiKey, stats::Metric>, int> widest;
  for (const stats::StatRow* row : rows) {
    int& width = widest.try_emplace({row->key.api, row->key.metric}, 0).first->second;
    width = std::max(width, stats::StratumWidth(row->key));
  }
  std::map<stats::ApiKey, CostSummary> by_api;
  for (const stats::StatRow* row : rows) {
    if (stats::StratumWidth(row->key) != widest.at({row->key.api, row->key.metric})) continue;
    CostSummary& summary = by_api[row->key.api];
    summary.api = row->key.api;
    if (row->key.metric == stats::Metric::kNotMeasured) {
      summary.not_measured |= ReasonsIn(row->histogram);
      continue;
    }
    MetricSummary& metric = summary.metrics[row->key.metric];
    metric.sums.Merge(*row);
    metric.strata.Add(row->key);
  }
  std::vector<CostSummary> summaries;
  for (auto& [api, summary] : by_api) {
    for (auto& [number, metric] : summary.metrics) {
      metric.figures = stats::FiguresOf(metric.sums, whose);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows, stats::Whose whose) {
  std::vector<const stats::StatRow*> all;
  for (const stats::StatRow& row : rows) all.push_back(&row);
  return Summarise(all, whose);
}

double ValueOf(const CostSummary& summary, SortKey key) {
  FIELDCOST_CHECK(key != SortKey::kTotal);
  if (key == SortKey::kCalls) return static_cast<double>(CallsOf(summary).value_or(0));
  const MetricSummary* time = summary.FindTime();
  if (time == nullptr) return -1;
  const stats::Figures& figures = time->figures;
  const auto quantile = [&](stats::Quantile stats::Quantiles::*which) {
    return figures.quantiles ? (*figures.quantiles.*which).estimate : -1;
  };
  switch (key) {
    case SortKey::kP50:
      return quantile(&stats::Quantiles::p50);
    case SortKey::kP95:
      return quantile(&stats::Quantiles::p95);
    case SortKey::kP99:
      return quantile(&stats::Quantiles::p99);
    case SortKey::kMean:
      return figures.mean.value_or(-1);
    case SortKey::kCalls:
    case SortKey::kTotal:
      break;
  }
  return -1;
}

std::optional<SortKey> ParseSortKey(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, SortKey>, 6> kNames = {
      {{"calls", SortKey::kCalls},
       {"p50", SortKey::kP50},
       {"p95", SortKey::kP95},
       {"p99", SortKey::kP99},
       {"mean", SortKey::kMean},
       {"total", SortKey::kTotal}}};
  for (const auto& [name, key] : kNames) {
    if (name == text) return key;
  }
  return std::nullopt;
}

void Sort(std::vector<CostSummary>& summaries, SortKey key) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [key](const CostSummary& a, const CostSummary& b) {
                     const std::partial_ordering order = key == SortKey::kTotal
                                                             ? OrderOf(TotalOf(b), TotalOf(a))
                                                             : ValueOf(b, key) <=> ValueOf(a, key);
                     return order != 0 ? order < 0 : a.api < b.api;
                   });
}

}  // namespace fieldcost::analysis
