#include "common/inference/covariate.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/inference/tails.h"

namespace fieldcost::inference {
namespace {

// Sums of products of deviations from the group's means.
struct Products {
  double values = 0;
  double both = 0;
  double covariates = 0;
};

void AddProducts(const WithCovariate& group, double mean, double covariate, Products& sums) {
  for (std::size_t i = 0; i < group.values.size(); ++i) {
    const double value = group.values[i] - mean;
    const double other = group.covariates[i] - covariate;
    sums.values += value * value;
    sums.both += value * other;
    sums.covariates += other * other;
  }
}

}  // namespace

AdjustedDifference DifferenceGiven(const WithCovariate& a, const WithCovariate& b, double level) {
  FIELDCOST_CHECK(a.values.size() == a.covariates.size());
  FIELDCOST_CHECK(b.values.size() == b.covariates.size());
  FIELDCOST_CHECK(level > 0 && level < 1);
  const Moments of_a = MomentsOf(a.values);
  const Moments of_b = MomentsOf(b.values);
  const double covariate_a = MomentsOf(a.covariates).mean;
  const double covariate_b = MomentsOf(b.covariates).mean;
  Products sums;
  AddProducts(a, of_a.mean, covariate_a, sums);
  AddProducts(b, of_b.mean, covariate_b, sums);
  if (sums.covariates == 0) {
    return {of_b.mean - of_a.mean, WelchP(of_a, of_b), WelchInterval(of_a, of_b, level)};
  }
  const double freedom = of_a.count + of_b.count - 3;
  FIELDCOST_CHECK(freedom >= 1);
  const double slope = sums.both / sums.covariates;
  const double apart = covariate_b - covariate_a;
  const double left = std::max(0.0, sums.values - slope * sums.both) / freedom;
  const double deviation =
      std::sqrt(left * (1 / of_a.count + 1 / of_b.count + apart * apart / sums.covariates));
  AdjustedDifference found = {.difference = of_b.mean - of_a.mean - slope * apart};
  if (deviation == 0) {
    found.p = found.difference == 0 ? 1 : 0;
    found.interval = {found.difference, found.difference};
    return found;
  }
  const double reach = deviation * StudentTUpperQuantile((1 - level) / 2, freedom);
  found.p = std::min(1.0, 2 * StudentTUpperTail(std::abs(found.difference) / deviation, freedom));
  found.interval = {found.difference - reach, found.difference + reach};
  return found;
}

}  // namespace fieldcost::inference
