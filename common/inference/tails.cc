#include "common/inference/tails.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "common/base/check.h"

namespace fieldcost::inference {
namespace {

namespace policies = boost::math::policies;

// No exceptions: results out of range become 0, which the callers raise to the smallest p.
using Policy = policies::policy<policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::underflow_error<policies::ignore_error>,
                                policies::denorm_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>,
                                policies::promote_double<false>>;

}  // namespace

double NormalUpperTail(double z) {
  if (std::isinf(z)) return z > 0 ? 0 : 1;
  const boost::math::normal_distribution<double, Policy> normal;
  return boost::math::cdf(boost::math::complement(normal, z));
}

double StudentTUpperTail(double t, double degrees_of_freedom) {
  FIELDCOST_CHECK(degrees_of_freedom > 0 && !std::isnan(t));
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const boost::math::students_t_distribution<double, Policy> student(degrees_of_freedom);
  return boost::math::cdf(boost::math::complement(student, t));
}

double StudentTUpperQuantile(double p, double degrees_of_freedom) {
  FIELDCOST_CHECK(p > 0 && p < 1 && degrees_of_freedom > 0);
  const boost::math::students_t_distribution<double, Policy> student(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(student, p));
}

double NormalUpperQuantile(double p) {
  FIELDCOST_CHECK(p > 0 && p < 1);
  const boost::math::normal_distribution<double, Policy> normal;
  return boost::math::quantile(boost::math::complement(normal, p));
}

double ChiSquaredUpperTail(double x, double degrees_of_freedom) {
  FIELDCOST_CHECK(x >= 0 && degrees_of_freedom > 0);
  return std::isinf(x) ? 0 : boost::math::gamma_q(degrees_of_freedom / 2, x / 2, Policy());
}

double PearsonUpperTail(double z, double skewness) {
  FIELDCOST_CHECK(std::isfinite(z) && skewness >= 0);
  // Below it, the distribution differs from the normal one by less than 10^-5, and the gamma
  // distribution's shape is above 10^7.
  constexpr double kLeastSkewness = 0x1p-11;
  if (skewness < kLeastSkewness) return NormalUpperTail(z);
  const double shape = 4 / (skewness * skewness);
  const double x = shape + z * std::sqrt(shape);
  return x <= 0 ? 1 : boost::math::gamma_q(shape, x, Policy());
}

}  // namespace fieldcost::inference
