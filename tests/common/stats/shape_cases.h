#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string_view>

#include "common/stats/shape.h"

namespace fieldcost::stats {

// Simulated APIs with known shapes, to measure how often ClassifyShape() is right.

// Random numbers from distributions with the same names as in the cases.
class CaseDraw {
 public:
  explicit CaseDraw(std::uint64_t seed) : random_(seed) {}

  double Uniform(double low, double high);
  double LogUniform(double low, double high);
  // Log-normal with median 1; e to the power of a normal number with this deviation.
  double LogNormal(double deviation);
  double Normal();
  // Mean 1; the sum of `shape` exponential numbers.
  double Gamma(double shape);
  double Exponential() { return Gamma(1); }
  double Weibull(double shape);  // scale 1
  double Pareto(double alpha);   // from 1
  bool OneIn(double n) { return Uniform(0, n) < 1; }
  // Returns one of these numbers.
  double AnyOf(std::span<const double> values);

 private:
  std::mt19937_64 random_;
};

// One call: its arguments and its cost in ns.
struct SimulatedCall {
  double input = 0;
  double cost = 0;
};

struct ShapeCase {
  std::string_view name;
  Shape shape;              // the correct result by the rules, derived from the distribution
  bool is_scanned = false;  // the input is the scanned value, not argument 3
  double first_ns = 0;      // extra cost of each process's first call; 0: no start-up
  SimulatedCall (*draw)(CaseDraw&);
};

// The distributions used to tune the thresholds, and three further sets, each written down before
// the rules were tried on it. One case of the first set and one of the second revealed a mistake in
// the rule for two peaks; the last set had no influence on the corrected rules.
std::span<const ShapeCase> TriedCases();
std::span<const ShapeCase> HeldOutCases();
std::span<const ShapeCase> LaterHeldOutCases();
std::span<const ShapeCase> LastHeldOutCases();

// 2,000 calls by 5 processes. A share of `preempted` costs 1 to 10 ms more. In addition to the
// input there are two arguments that do not affect the cost.
ShapeInput Simulate(const ShapeCase& shape_case, double preempted, std::uint64_t seed);

// The share of seeds with shape, argument and start-up all found correctly.
double RightShare(const ShapeCase& shape_case, double preempted, int seeds);

}  // namespace fieldcost::stats
