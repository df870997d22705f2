#pragma once

#include <span>

namespace fieldcost::inference {

// Some observations' mean, and their variance (n - 1 in the denominator).
struct Moments {
  double count = 0;
  double mean = 0;
  double variance = 0;
};
// REQUIRES: at least one. The variance of one is 0.
Moments MomentsOf(std::span<const double> values);

// Welch's test (1947), two-sided: the probability that means of the same differ as much. If nothing
// varies, 0 unless they are equal. REQUIRES: a count of 2 or more on both sides.
double WelchP(const Moments& a, const Moments& b);

// In which the difference of the means, b - a, lies with that probability, by the same test:
// without 0 exactly if WelchP() is below 1 - `level`. REQUIRES: as WelchP(); 0 < level < 1.
struct DifferenceInterval {
  double low = 0;
  double high = 0;
};
DifferenceInterval WelchInterval(const Moments& a, const Moments& b, double level);

// The value at which half of the weight is reached, from below. REQUIRES: one weight per value,
// none negative. 0 without values.
double WeightedMedian(std::span<const double> values, std::span<const double> weights);

}  // namespace fieldcost::inference
