#pragma once

namespace fieldcost::inference {

// Upper tails of distributions, by Boost.Math, with a relative error of about 1e-13, even far out.
// Results are in [0, 1], and 0 only below the smallest normal double. Pure, thread-safe.

// P(Z >= z) of the standard normal distribution.
double NormalUpperTail(double z);

// P(T >= t) of Student's t distribution. REQUIRES: degrees_of_freedom > 0, t is not NaN.
double StudentTUpperTail(double t, double degrees_of_freedom);

// The t above which the upper tail is `p`. REQUIRES: 0 < p < 1, degrees_of_freedom > 0.
double StudentTUpperQuantile(double p, double degrees_of_freedom);

// The z above which the upper tail of the standard normal distribution is `p`. REQUIRES: 0 < p < 1.
double NormalUpperQuantile(double p);

// P(X >= x) of the chi-squared distribution. REQUIRES: 0 <= x, degrees_of_freedom > 0.
double ChiSquaredUpperTail(double x, double degrees_of_freedom);

// P(X >= z) of Pearson's type III (1895): a gamma distribution with this skewness, shifted and
// scaled to mean 0 and variance 1. The normal distribution if the skewness is 0. REQUIRES: z is
// finite, 0 <= skewness.
double PearsonUpperTail(double z, double skewness);

}  // namespace fieldcost::inference
