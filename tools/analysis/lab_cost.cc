#include "tools/analysis/lab_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/inference/machine_moments.h"

namespace fieldcost::analysis {
namespace {

// Uses only the spread between runs; they are too few to estimate skewness.
std::optional<double> RunSpread(const stats::ContributionScalars& runs) {
  constexpr std::uint64_t kLeastRuns = 3;
  if (runs.contributions < kLeastRuns || runs.sum_within_freedom == 0) return std::nullopt;
  return std::exp2(std::sqrt(inference::MomentsOf(runs).between)) - 1;
}

const stats::CostHistogram* HistogramOf(const CostSummary& summary, stats::Metric metric) {
  const MetricSummary* numbers = summary.Find(metric);
  return numbers == nullptr ? nullptr : &numbers->sums.histogram;
}

stats::ShapeInput InputOf(const wire::LabApi& api, const CostSummary& summary) {
  stats::ShapeInput input;
  input.log_cost = api.log_cost;
  input.arguments = api.arguments;
  input.first_call_bytes = api.first_call_bytes;
  input.other_bytes = api.other_bytes;
  if (const auto* times = HistogramOf(summary, stats::Metric::kWallTime)) input.cost = *times;
  if (const auto* firsts = HistogramOf(summary, stats::Metric::kFirstCallTime)) {
    input.first_calls = *firsts;
    input.processes = firsts->count();
  }
  return input;
}

LabCost CostOf(const wire::LabApi& api, CostSummary summary) {
  LabCost cost{.summary = std::move(summary),
               .is_own = api.is_own,
               .calls = api.calls,
               .totals = api.totals};
  cost.summary.api = api.api;
  cost.shape = stats::ClassifyShape(InputOf(api, cost.summary));
  if (const MetricSummary* times = cost.summary.Find(stats::Metric::kWallTime)) {
    cost.runs = times->sums.scalars.contributions;
    cost.run_spread = RunSpread(times->sums.scalars);
  }
  if (const MetricSummary* bytes = cost.summary.Find(stats::Metric::kAllocInclusive)) {
    cost.alloc_per_call = bytes->figures.mean;
  }
  return cost;
}

double SortValue(const LabCost& cost, SortKey key) {
  if (key == SortKey::kCalls) return static_cast<double>(cost.calls);
  if (key == SortKey::kTotal) return cost.TotalNs().value_or(-1);
  return ValueOf(cost.summary, key);
}

}  // namespace

std::optional<double> LabCost::TotalNs() const {
  const MetricSummary* times = summary.Find(stats::Metric::kWallTime);
  if (times == nullptr || !times->figures.mean) return std::nullopt;
  return *times->figures.mean * static_cast<double>(calls);
}

double WholeNs(std::span<const LabCost> costs) {
  double whole = 0;
  for (const LabCost& cost : costs) whole += cost.TotalNs().value_or(0);
  return whole;
}

std::vector<LabCost> LabCosts(const wire::LabTable& table) {
  std::vector<CostSummary> summaries = Summarise(table.rows, stats::Whose::kOwn);
  std::vector<LabCost> costs;
  auto next = summaries.begin();  // both are ascending
  for (const wire::LabApi& api : table.apis) {
    CostSummary summary;
    if (next != summaries.end() && next->api == api.api) summary = std::move(*next++);
    summary.load_known = false;
    if (api.calls == 0 && summary.metrics.empty()) continue;
    costs.push_back(CostOf(api, std::move(summary)));
  }
  return costs;
}

void Sort(std::vector<LabCost>& costs, SortKey key) {
  // Compute each value once, because a mean is a sum over buckets.
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < costs.size(); ++i) order.emplace_back(-SortValue(costs[i], key), i);
  std::sort(order.begin(), order.end(), [&costs](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first
                              : costs[a.second].summary.api < costs[b.second].summary.api;
  });
  std::vector<LabCost> sorted;
  for (const auto& [value, index] : order) sorted.push_back(std::move(costs[index]));
  costs = std::move(sorted);
}

}  // namespace fieldcost::analysis
