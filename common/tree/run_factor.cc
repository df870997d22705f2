#include "common/tree/run_factor.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "common/base/check.h"
#include "common/inference/welch.h"

namespace fieldcost::tree {
namespace {

constexpr std::size_t kLeastPaths = 5;  // with fewer paths, all have the same weight

// Caps weights so that none is more than 1 / kLeastPaths of their sum.
std::vector<double> Capped(std::vector<double> weights) {
  if (weights.empty()) return weights;
  std::vector<double> sorted = weights;
  std::ranges::sort(sorted, std::greater());
  double rest = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  double cap = sorted.back();
  // If the greatest i weights are reduced to the cap: cap = (i * cap + rest) / kLeastPaths.
  for (std::size_t i = 0; i < std::min(kLeastPaths, sorted.size()); ++i) {
    const double fitting = rest / static_cast<double>(kLeastPaths - i);
    if (sorted[i] <= fitting) {
      cap = i == 0 ? sorted[0] : fitting;
      break;
    }
    rest -= sorted[i];
  }
  for (double& weight : weights) weight = std::min(weight, cap);
  return weights;
}

}  // namespace

std::vector<double> RunFactors(std::span<const std::vector<double>> self, std::size_t runs_before,
                               double least) {
  FIELDCOST_CHECK(runs_before > 0 && runs_before < self.size());
  std::vector<std::size_t> enough;
  std::vector<double> means;
  for (std::size_t path = 0; path < self.front().size(); ++path) {
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < self.size(); ++i)
      (i < runs_before ? before : after) += self[i][path];
    const double mean = (before / static_cast<double>(runs_before) +
                         after / static_cast<double>(self.size() - runs_before)) /
                        2;
    if (mean <= 0 || mean < least) continue;
    enough.push_back(path);
    means.push_back(mean);
  }
  const std::vector<double> weights = Capped(means);
  std::vector<double> factors;
  std::vector<double> ratios(enough.size());
  for (const std::vector<double>& run : self) {
    for (std::size_t i = 0; i < enough.size(); ++i) ratios[i] = run[enough[i]] / means[i];
    const double factor = inference::WeightedMedian(ratios, weights);
    factors.push_back(factor > 0 ? factor : 1);
  }
  return factors;
}

}  // namespace fieldcost::tree
