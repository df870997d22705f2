#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string_view>

#include "common/stats/shape.h"

namespace fieldcost::stats {

// Simulated APIs whose shape is known, to measure how often ClassifyShape() finds it.

// Random numbers in the words of the cases.
class CaseDraw {
 public:
  explicit CaseDraw(std::uint64_t seed) : random_(seed) {}

  double Uniform(double low, double high);
  double LogUniform(double low, double high);
  // With median 1: e to the power of a normal one with this deviation.
  double LogNormal(double deviation);
  double Normal();
  // Mean 1; the sum of `shape` exponential ones.
  double Gamma(double shape);
  double Exponential() { return Gamma(1); }
  double Weibull(double shape);  // of scale 1
  double Pareto(double alpha);   // from 1
  bool OneIn(double n) { return Uniform(0, n) < 1; }
  // One of these numbers.
  double AnyOf(std::span<const double> values);

 private:
  std::mt19937_64 random_;
};

// One call: what it was given, and what it costs in ns.
struct SimulatedCall {
  double input = 0;
  double cost = 0;
};

struct ShapeCase {
  std::string_view name;
  Shape shape;              // what a reader of the rules says, from how it is drawn
  bool is_scanned = false;  // the input is the scanned value, else argument 3
  double first_ns = 0;      // each process's first call costs that more; 0: no start-up
  SimulatedCall (*draw)(CaseDraw&);
};

// The distributions that the thresholds were tried on, and three sets of others, each written down
// before the rules met it. One of the first set, and one of the second, found a mistake in the rule
// for two peaks; the last is all the corrected rules had not met.
std::span<const ShapeCase> TriedCases();
std::span<const ShapeCase> HeldOutCases();
std::span<const ShapeCase> LaterHeldOutCases();
std::span<const ShapeCase> LastHeldOutCases();

// 2,000 calls of 5 processes. Of `preempted` of them the cost is 1 to 10 ms more. Beside the input
// there are two arguments that costs have nothing to do with.
ShapeInput Simulate(const ShapeCase& shape_case, double preempted, std::uint64_t seed);

// Share of seeds for which shape, argument and start-up are found as they are.
double RightShare(const ShapeCase& shape_case, double preempted, int seeds);

}  // namespace fieldcost::stats
