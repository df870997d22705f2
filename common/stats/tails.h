#pragma once

namespace fieldcost::stats {

// Upper tails of distributions, by Boost.Math: relative error about 1e-13, also far out. In [0, 1];
// 0 only below the smallest normal double. Pure, thread-safe.

// P(Z >= z) of the standard normal distribution.
double NormalUpperTail(double z);

// P(T >= t) of Student's t distribution. REQUIRES: degrees_of_freedom > 0, t is not NaN.
double StudentTUpperTail(double t, double degrees_of_freedom);

// The t above which the upper tail is `p`. REQUIRES: 0 < p < 1, degrees_of_freedom > 0.
double StudentTUpperQuantile(double p, double degrees_of_freedom);

}  // namespace fieldcost::stats
