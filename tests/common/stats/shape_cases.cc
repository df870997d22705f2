#include "tests/common/stats/shape_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace fieldcost::stats {
namespace {

constexpr int kProcesses = 5;
constexpr int kCallsOfProcess = 400;
constexpr unsigned kArgument = 3;
constexpr double kMostInput = 65536;
constexpr double kPreempted[] = {1e6, 10e6};  // ns

// An input that is unrelated to the cost.
SimulatedCall Without(CaseDraw& draw, double cost) {
  return {draw.LogUniform(1, kMostInput), cost};
}

// A growing cost with 10 % noise.
template <typename Cost>
SimulatedCall With(CaseDraw& draw, double most, Cost cost) {
  const double n = std::floor(draw.LogUniform(1, most));
  return {n, cost(n) * draw.LogNormal(0.1)};
}

constexpr ShapeCase kTried[] = {
    {.name = "constant, 3 % jitter",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, 1500 * (1 + 0.03 * d.Normal())); }},
    {.name = "uniform within 1.4 x",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, d.Uniform(700, 980)); }},
    {.name = "lognormal, 0.1",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, 20e3 * d.LogNormal(0.1)); }},
    {.name = "lognormal, 1",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, 20e3 * d.LogNormal(1)); }},
    {.name = "two peaks, 300 and 1,300 ns",
     .shape = Shape::kBimodal,
     .draw = [](CaseDraw& d) { return Without(d, (d.OneIn(2) ? 300 : 1300) * d.LogNormal(0.1)); }},
    {.name = "two peaks, 200 ns and 50 us",
     .shape = Shape::kBimodal,
     .draw = [](CaseDraw& d) { return Without(d, (d.OneIn(2) ? 200 : 50e3) * d.LogNormal(0.2)); }},
    {.name = "two peaks, 90 % 500 ns, 10 % 20 us",
     .shape = Shape::kBimodal,
     .draw = [](CaseDraw& d) { return Without(d, (d.OneIn(10) ? 20e3 : 500) * d.LogNormal(0.2)); }},
    {.name = "Pareto, 1",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 1000 * d.Pareto(1)); }},
    {.name = "100 ns + n",
     .shape = Shape::kGrows,
     .draw = [](CaseDraw& d) { return With(d, kMostInput, [](double n) { return 100 + n; }); }},
    {.name = "200 ns + 50 sqrt n",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, kMostInput, [](double n) { return 200 + 50 * std::sqrt(n); });
         }},
    {.name = "50 ns + 50 log2 n",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, kMostInput, [](double n) { return 50 + 50 * std::log2(n); });
         }},
    {.name = "100 ns + n^2 / 256",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, kMostInput, [](double n) { return 100 + n * n / 256; });
         }},
    {.name = "100 ns + n log2 n",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, kMostInput, [](double n) { return 100 + n * std::log2(n); });
         }},
    {.name = "twice as much every 4 octaves",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, kMostInput,
                       [](double n) { return 400 * std::exp2(std::floor(std::log2(n) / 4)); });
         }},
    {.name = "start-up of 300 us, then constant",
     .shape = Shape::kConstant,
     .first_ns = 300e3,
     .draw = [](CaseDraw& d) { return Without(d, 1500 * (1 + 0.03 * d.Normal())); }},
};

SimulatedCall CachedOrNot(CaseDraw& d) {
  return Without(d, d.Uniform(0, 1) < 0.7 ? d.Uniform(90, 100) : 12e3 * d.LogNormal(0.3));
}
SimulatedCall ThreePeaks(CaseDraw& d) {
  constexpr double kPeaks[] = {700, 7000, 70'000};
  return Without(d, d.AnyOf(kPeaks) * d.LogNormal(0.15));
}
SimulatedCall UniformPower(CaseDraw& d) {
  const double n = std::floor(d.Uniform(1, 4097));
  return SimulatedCall{n, 20 * std::pow(n, 0.8) * d.LogNormal(0.3)};
}
SimulatedCall NoisyPower(CaseDraw& d) {
  const double n = std::floor(d.LogUniform(8, 2049));
  return SimulatedCall{n, 3 * std::pow(n, 1.5) * d.LogNormal(0.4)};
}
SimulatedCall FiveSizes(CaseDraw& d) {
  constexpr double kSizes[] = {64, 256, 1024, 4096, 16'384};
  const double n = d.AnyOf(kSizes);
  return SimulatedCall{n, (300 + 0.8 * n) * d.LogNormal(0.25)};
}
SimulatedCall ScannedSort(CaseDraw& d) {
  constexpr double kScanned[] = {1, 10, 100, 1000};
  const double n = d.AnyOf(kScanned);
  return SimulatedCall{n, (50 + n * std::log2(n)) * d.LogNormal(0.2)};
}
SimulatedCall Falling(CaseDraw& d) {
  const double n = std::floor(d.LogUniform(1, 1025));
  return SimulatedCall{n, 1e6 / n * d.LogNormal(0.2)};
}

constexpr ShapeCase kHeldOut[] = {
    {.name = "85 ns, seen in steps of 10",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, std::floor(d.Uniform(8, 9.99)) * 10); }},
    {.name = "uniform within 1.2 x, 3 ms",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, d.Uniform(3e6, 3.6e6)); }},
    {.name = "gamma, 4",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, 50e3 * d.Gamma(4)); }},
    {.name = "exponential",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, 2000 * d.Exponential()); }},
    {.name = "triangular within 3 x",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, d.Uniform(500, 1500) + d.Uniform(500, 1500)); }},
    {.name = "Weibull, 0.4",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 5000 * d.Weibull(0.4)); }},
    {.name = "Pareto, 1.1",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 400 * d.Pareto(1.1)); }},
    {.name = "lognormal, 2.2",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 3000 * d.LogNormal(2.2)); }},
    {.name = "two gammas, 80 % 2 us, 20 % 64 us",
     .shape = Shape::kBimodal,
     .draw = [](CaseDraw& d) { return Without(d, (d.OneIn(5) ? 64e3 : 2e3) * d.Gamma(8)); }},
    {.name = "70 % 95 ns, the others lognormal, 12 us",
     .shape = Shape::kBimodal,
     .draw = CachedOrNot},
    {.name = "three peaks, 1 : 10 : 100", .shape = Shape::kBimodal, .draw = ThreePeaks},
    {.name = "n^0.8, n uniform to 4,096", .shape = Shape::kGrows, .draw = UniformPower},
    {.name = "n^1.5, n from 8 to 2,048, noise 0.4", .shape = Shape::kGrows, .draw = NoisyPower},
    {.name = "5 us + 2 n, n to 2^18",
     .shape = Shape::kGrows,
     .draw = [](CaseDraw& d) { return With(d, 1 << 18, [](double n) { return 5000 + 2 * n; }); }},
    {.name = "n of five sizes, 64 to 16,384", .shape = Shape::kGrows, .draw = FiveSizes},
    {.name = "n log2 n, scanned over 1, 10, 100, 1,000",
     .shape = Shape::kGrows,
     .is_scanned = true,
     .draw = ScannedSort},
    {.name = "1 us a page of 4,096 bytes",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           return With(d, 1 << 20, [](double n) { return 1000 * std::ceil(n / 4096); });
         }},
    {.name = "falls with n", .shape = Shape::kVaried, .draw = Falling},
    {.name = "start-up of 3 ms, then exponential",
     .shape = Shape::kVaried,
     .first_ns = 3e6,
     .draw = [](CaseDraw& d) { return Without(d, 4000 * d.Exponential()); }},
    {.name = "start-up of 2 ms, then linear",
     .shape = Shape::kGrows,
     .first_ns = 2e6,
     .draw = [](CaseDraw& d) { return With(d, 4096, [](double n) { return 80 + 3 * n; }); }},
};

constexpr ShapeCase kHeldOutLater[] = {
    {.name = "Weibull, 0.3",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 20e3 * d.Weibull(0.3)); }},
    {.name = "log-logistic, 1",
     .shape = Shape::kHeavyTailed,
     .draw =
         [](CaseDraw& d) {
           const double u = d.Uniform(0, 1);
           return Without(d, 1000 * u / (1 - u));
         }},
    {.name = "Pareto, 0.9, times n^0.1",
     .shape = Shape::kHeavyTailed,
     .draw =
         [](CaseDraw& d) {
           const double n = std::floor(d.LogUniform(1, kMostInput));
           return SimulatedCall{n, 300 * d.Pareto(0.9) * std::pow(n, 0.1)};
         }},
    {.name = "exponential, 60 ns, seen in steps of 10",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, std::floor(6 * d.Exponential()) * 10); }},
    {.name = "uniform within 10 x",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, d.Uniform(1000, 10'000)); }},
    {.name = "loguniform within 100 x",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, d.LogUniform(1000, 100'000)); }},
    {.name = "log-Laplace, 0.5",
     .shape = Shape::kVaried,
     .draw =
         [](CaseDraw& d) {
           return Without(d, 8000 * std::exp(0.5 * (d.Exponential() - d.Exponential())));
         }},
    {.name = "10 or 20 ns",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, d.OneIn(2) ? 10 : 20); }},
    {.name = "30 % 10 ns, 70 % 120 to 180 ns, seen in steps of 10",
     .shape = Shape::kBimodal,
     .draw =
         [](CaseDraw& d) {
           return Without(d, d.Uniform(0, 1) < 0.3 ? 10 : std::floor(d.Uniform(12, 19)) * 10);
         }},
    {.name = "two peaks, 92 % 3 us, 8 % 200 us",
     .shape = Shape::kBimodal,
     .draw =
         [](CaseDraw& d) { return Without(d, (d.OneIn(12.5) ? 200e3 : 3e3) * d.LogNormal(0.1)); }},
    {.name = "200 ns + 4 n, n exponential, noise 0.3",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           const double n = std::floor(500 * d.Exponential());
           return SimulatedCall{n, (200 + 4 * n) * d.LogNormal(0.3)};
         }},
    {.name = "30 ns + 10 n^2, n from 2 to 64, noise 0.5",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           const double n = std::floor(d.LogUniform(2, 65));
           return SimulatedCall{n, (30 + 10 * n * n) * d.LogNormal(0.5)};
         }},
    {.name = "start-up of 500 us, then two peaks",
     .shape = Shape::kBimodal,
     .first_ns = 500e3,
     .draw = [](CaseDraw& d) { return Without(d, (d.OneIn(3) ? 9000 : 400) * d.LogNormal(0.1)); }},
};

constexpr ShapeCase kHeldOutLast[] = {
    {.name = "Weibull, 0.35, 2 us",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 2000 * d.Weibull(0.35)); }},
    {.name = "lognormal, 1.7, 500 ns",
     .shape = Shape::kHeavyTailed,
     .draw = [](CaseDraw& d) { return Without(d, 500 * d.LogNormal(1.7)); }},
    {.name = "98 % 1 us, 2 % 200 us",
     .shape = Shape::kHeavyTailed,
     .draw =
         [](CaseDraw& d) { return Without(d, (d.OneIn(50) ? 200e3 : 1e3) * d.LogNormal(0.1)); }},
    {.name = "gamma, 2, 90 ns, seen in steps of 10",
     .shape = Shape::kVaried,
     .draw = [](CaseDraw& d) { return Without(d, std::floor(9 * d.Gamma(2)) * 10); }},
    {.name = "lognormal, 0.9, times n^0.05",
     .shape = Shape::kVaried,
     .draw =
         [](CaseDraw& d) {
           const double n = std::floor(d.LogUniform(1, kMostInput));
           return SimulatedCall{n, 900 * d.LogNormal(0.9) * std::pow(n, 0.05)};
         }},
    {.name = "normal, 1 ms, 8 %",
     .shape = Shape::kConstant,
     .draw = [](CaseDraw& d) { return Without(d, 1e6 * (1 + 0.08 * d.Normal())); }},
    {.name = "15 % nothing, 85 % 300 to 420 ns",
     .shape = Shape::kBimodal,
     .draw =
         [](CaseDraw& d) { return Without(d, d.Uniform(0, 1) < 0.15 ? 0 : d.Uniform(300, 420)); }},
    {.name = "two peaks, 40 % 1 us, 60 % 30 us, 0.4 wide",
     .shape = Shape::kBimodal,
     .draw =
         [](CaseDraw& d) {
           return Without(d, (d.Uniform(0, 1) < 0.4 ? 1e3 : 30e3) * d.LogNormal(0.4));
         }},
    {.name = "100 sqrt n, n uniform to 10,000, noise 0.2",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           const double n = std::floor(d.Uniform(1, 10'000));
           return SimulatedCall{n, 100 * std::sqrt(n) * d.LogNormal(0.2)};
         }},
    {.name = "150 ns + 2 n, half the n 0",
     .shape = Shape::kGrows,
     .draw =
         [](CaseDraw& d) {
           const double n = d.OneIn(2) ? 0 : std::floor(d.LogUniform(16, 16'384));
           return SimulatedCall{n, (150 + 2 * n) * d.LogNormal(0.1)};
         }},
    {.name = "500 ns + 3 n^2, scanned over 1, 2, 4 ... 64",
     .shape = Shape::kGrows,
     .is_scanned = true,
     .draw =
         [](CaseDraw& d) {
           const double n = std::exp2(std::floor(d.Uniform(0, 7)));
           return SimulatedCall{n, (500 + 3 * n * n) * d.LogNormal(0.1)};
         }},
    {.name = "start-up of 1 ms, then lognormal, 1",
     .shape = Shape::kVaried,
     .first_ns = 1e6,
     .draw = [](CaseDraw& d) { return Without(d, 2000 * d.LogNormal(1)); }},
};

}  // namespace

double CaseDraw::Uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
}
double CaseDraw::LogUniform(double low, double high) {
  return std::exp(Uniform(std::log(low), std::log(high)));
}
double CaseDraw::Normal() {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log1p(-Uniform(0, 1)));
  return radius * std::cos(Uniform(0, 2 * std::numbers::pi));
}
double CaseDraw::LogNormal(double deviation) { return std::exp(deviation * Normal()); }
double CaseDraw::Gamma(double shape) {
  double sum = 0;
  for (int i = 0; i < static_cast<int>(shape); ++i) sum -= std::log1p(-Uniform(0, 1));
  return sum / shape;
}
double CaseDraw::Weibull(double shape) { return std::pow(Exponential(), 1 / shape); }
double CaseDraw::Pareto(double alpha) { return std::exp(Exponential() / alpha); }
double CaseDraw::AnyOf(std::span<const double> values) {
  return values[static_cast<std::size_t>(Uniform(0, static_cast<double>(values.size())))];
}

std::span<const ShapeCase> TriedCases() { return kTried; }
std::span<const ShapeCase> HeldOutCases() { return kHeldOut; }
std::span<const ShapeCase> LaterHeldOutCases() { return kHeldOutLater; }
std::span<const ShapeCase> LastHeldOutCases() { return kHeldOutLast; }

ShapeInput Simulate(const ShapeCase& shape_case, double preempted, std::uint64_t seed) {
  CaseDraw draw(seed);
  ShapeInput input;
  input.processes = kProcesses;
  const unsigned number = shape_case.is_scanned ? ShapeArgument::kScanValue : kArgument;
  input.arguments = {{.number = 1}, {.number = number}, {.number = 4}};
  for (int i = 0; i < kProcesses * kCallsOfProcess; ++i) {
    const bool is_first = i % kCallsOfProcess == 0;
    const SimulatedCall call = shape_case.draw(draw);
    double ns = std::max(call.cost, 1.0);
    if (is_first) ns += shape_case.first_ns;
    if (draw.Uniform(0, 1) < preempted) ns += draw.Uniform(kPreempted[0], kPreempted[1]);
    const auto cost = static_cast<std::uint64_t>(ns);
    input.cost.Add(cost);
    input.log_cost.Add(cost);
    if (is_first) input.first_calls.Add(cost);
    input.arguments[0].sums.Add(static_cast<std::uint64_t>(draw.LogUniform(1, kMostInput)), cost);
    input.arguments[1].sums.Add(static_cast<std::uint64_t>(call.input), cost);
    input.arguments[2].sums.Add(static_cast<std::uint64_t>(draw.Uniform(0, 1000)), cost);
  }
  return input;
}

double RightShare(const ShapeCase& shape_case, double preempted, int seeds) {
  int right = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const ShapeResult result =
        ClassifyShape(Simulate(shape_case, preempted, static_cast<std::uint64_t>(seed)));
    const unsigned number = shape_case.is_scanned ? ShapeArgument::kScanValue : kArgument;
    const bool is_argument = !result.growth || result.growth->argument == number;
    const bool is_start_up = result.start_up.has_value() == (shape_case.first_ns > 0);
    if (result.shape == shape_case.shape && is_argument && is_start_up) ++right;
  }
  return static_cast<double>(right) / seeds;
}

}  // namespace fieldcost::stats
