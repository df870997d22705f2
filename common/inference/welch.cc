#include "common/inference/welch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/base/check.h"
#include "common/inference/tails.h"

namespace fieldcost::inference {
namespace {

// The standard error of a difference of means and its degrees of freedom, by Welch.
struct DifferenceError {
  double deviation = 0;
  double freedom = 0;  // unless the deviation is 0
};

DifferenceError ErrorOf(const Moments& a, const Moments& b) {
  FIELDCOST_CHECK(a.count >= 2 && b.count >= 2);
  const double of_a = a.variance / a.count;
  const double of_b = b.variance / b.count;
  if (of_a + of_b == 0) return {};
  const double share = of_a / (of_a + of_b);
  return {
      .deviation = std::sqrt(of_a + of_b),
      .freedom = 1 / (share * share / (a.count - 1) + (1 - share) * (1 - share) / (b.count - 1))};
}

}  // namespace

Moments MomentsOf(std::span<const double> values) {
  FIELDCOST_CHECK(!values.empty());
  Moments moments = {.count = static_cast<double>(values.size())};
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / moments.count;
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean);
  }
  if (values.size() > 1) moments.variance /= moments.count - 1;
  return moments;
}

double WelchP(const Moments& a, const Moments& b) {
  const DifferenceError error = ErrorOf(a, b);
  const double difference = std::abs(a.mean - b.mean);
  if (error.deviation == 0) return difference == 0 ? 1 : 0;
  return std::min(1.0, 2 * StudentTUpperTail(difference / error.deviation, error.freedom));
}

DifferenceInterval WelchInterval(const Moments& a, const Moments& b, double level) {
  FIELDCOST_CHECK(level > 0 && level < 1);
  const DifferenceError error = ErrorOf(a, b);
  const double difference = b.mean - a.mean;
  if (error.deviation == 0) return {difference, difference};
  const double reach = error.deviation * StudentTUpperQuantile((1 - level) / 2, error.freedom);
  return {difference - reach, difference + reach};
}

double WeightedMedian(std::span<const double> values, std::span<const double> weights) {
  FIELDCOST_CHECK(values.size() == weights.size());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double half = std::accumulate(weights.begin(), weights.end(), 0.0) / 2;
  double reached = 0;
  for (const std::size_t i : order) {
    reached += weights[i];
    if (reached >= half) return values[i];
  }
  return order.empty() ? 0 : values[order.back()];
}

}  // namespace fieldcost::inference
