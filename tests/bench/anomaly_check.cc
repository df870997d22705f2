// The statistics of a check of 500 APIs with synthetic costs, on one core. Prints how many are
// worse, and the CPU milliseconds for comparing and deciding.
//   bench_anomaly_check differ   machines differ by up to half an octave up or down
//   bench_anomaly_check alike    machines are equal, so that every comparison needs draws

#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "common/inference/anomaly.h"

namespace {

using namespace fieldcost;

constexpr int kApis = 500;

// Returns about `calls` calls, lognormal around 2^centre with a deviation in octaves; all values of
// a bucket equal its minimum.
stats::CostHistogram Lognormal(double calls, double centre, double octaves) {
  stats::CostHistogram histogram;
  const auto below = [&](double x) {
    return std::erfc((centre - x) / octaves / std::sqrt(2.0)) / 2;
  };
  for (unsigned slot = 1; slot < 50; ++slot) {
    const double share = below(slot) - below(slot - 1.0);
    const auto count = static_cast<std::uint64_t>(std::llround(calls * share));
    const stats::Uint128 value = shm::SlotMin(slot);
    histogram.SetBucket(
        slot, {.count = count, .sum = count * value, .sum_of_squares = count * value * value});
  }
  return histogram;
}

}  // namespace

int main(int count, char** arguments) {
  const double octaves_apart = count > 1 && std::string_view(arguments[1]) == "alike" ? 0 : 0.5;
  std::mt19937_64 random(12);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<stats::CostHistogram> mine;
  std::vector<stats::ApiSums> field(kApis);
  for (stats::ApiSums& api : field) {
    const double centre = between(5, 20);
    const double octaves = between(0.4, 2);
    for (int machine = 0; machine < 40; ++machine) {
      const auto one =
          Lognormal(std::exp2(between(10, 26)), centre + between(-1, 1) * octaves_apart, octaves);
      api.histogram.Merge(one);
      api.scalars.Merge(stats::ScalarsOf(one));
    }
    mine.push_back(
        Lognormal(std::exp2(between(7, 20)), centre + between(-1, 1) * octaves_apart, octaves));
  }
  const std::clock_t start = std::clock();
  std::vector<inference::Comparison> report;
  for (int i = 0; i < kApis; ++i) report.push_back(inference::Compare(mine[i], field[i]));
  inference::Decide(report);
  const std::clock_t end = std::clock();
  int worse = 0;
  for (const inference::Comparison& api : report) worse += api.verdict == inference::Verdict::kMore;
  std::printf("%d worse\n%.1f\n", worse, static_cast<double>(end - start) * 1e3 / CLOCKS_PER_SEC);
}
