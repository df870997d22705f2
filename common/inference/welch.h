#pragma once

#include <span>

namespace fieldcost::inference {

// The mean of some observations, and their variance (with denominator n - 1).
struct Moments {
  double count = 0;
  double mean = 0;
  double variance = 0;
};
// The variance of a single value is 0. REQUIRES: at least one value.
Moments MomentsOf(std::span<const double> values);

// Welch's test (1947), two-sided: the probability that the means differ at least this much if the
// true means are equal. If nothing varies: 1 if they are equal, otherwise 0. REQUIRES: a count of
// at least 2 on both sides.
double WelchP(const Moments& a, const Moments& b);

// The confidence interval of the difference of the means, b - a, by the same test. It excludes 0 if
// and only if WelchP() is below 1 - `level`. REQUIRES: as WelchP(); 0 < level < 1.
struct DifferenceInterval {
  double low = 0;
  double high = 0;
};
DifferenceInterval WelchInterval(const Moments& a, const Moments& b, double level);

// The smallest value at which the cumulative weight reaches half of the total. 0 without values.
// REQUIRES: one weight per value, none negative.
double WeightedMedian(std::span<const double> values, std::span<const double> weights);

}  // namespace fieldcost::inference
