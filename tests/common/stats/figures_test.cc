#include "common/stats/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/common/stats/published_row.h"

namespace fieldcost::stats {
namespace {

using testing::Calls;

ApiSums SumsOf(const std::vector<CostHistogram>& contributions) {
  ApiSums sums;
  sums.Merge(testing::PublishedRow({}, contributions));
  return sums;
}

// Machines whose call counts and costs differ by several octaves.
class Field {
 public:
  explicit Field(unsigned seed) : random_(seed) {}

  std::vector<CostHistogram> Honest(int machines) {
    std::vector<CostHistogram> field;
    for (; machines > 0; --machines) {
      field.push_back(Calls(Log(3, 9), Log(8, 12)));
      field.back().Merge(Calls(Log(3, 9), Log(8, 12)));
    }
    return field;
  }
  // Anything that passes the checks of a batch: one call or 2^40, at any cost.
  CostHistogram Hostile() {
    switch (random_() % 3) {
      case 0:
        return Calls(std::uint64_t{1} << 40, Log(0, 40));
      case 1:
        return Calls(1, std::uint64_t{1} << 60);
      default:
        return Calls(Log(0, 40), Log(0, 50));
    }
  }

 private:
  std::uint64_t Log(int from, int to) {
    return (std::uint64_t{1} << (from +
                                 static_cast<int>(random_() % static_cast<unsigned>(to - from)))) +
           random_() % 3;
  }

  std::mt19937_64 random_;
};

// The cost of rank ceil(share * n) among machines if each contribution counts once.
double MachineCost(const ApiSums& honest, double share) {
  return EstimateWeightedQuantile(honest.histogram, honest.weights,
                                  std::clamp(share, 1e-9, 1 - 1e-9))
      .estimate;
}

// aggregator/publish/BOUNDS.md, "By how much agents can move what is shown".
TEST(FiguresTest, AFewHostileMachinesMoveNoFigureBeyondItsBound) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Field field(seed);
    const int n = 20 + static_cast<int>(seed);
    std::vector<CostHistogram> contributions = field.Honest(n);
    const ApiSums honest = SumsOf(contributions);
    // The maximum of the honest contributions: no cap exceeds 32 times that.
    std::uint64_t most_calls = 0;
    Uint128 most_cost = 0;
    for (const CostHistogram& one : contributions) {
      most_calls = std::max(most_calls, one.count());
      most_cost = std::max(most_cost, one.sum());
    }
    for (int m = 1; m < n / 2; ++m) {
      contributions.push_back(field.Hostile());
      const Figures figures = FiguresOf(SumsOf(contributions), Whose::kField);
      ASSERT_TRUE(figures.quantiles && figures.calls && figures.sum);
      EXPECT_EQ(figures.contributions, static_cast<std::uint64_t>(n + m));
      const auto hostile = static_cast<std::uint64_t>(m);
      EXPECT_LE(*figures.calls, honest.histogram.count() + hostile * 32 * most_calls);
      EXPECT_LE(*figures.sum, honest.histogram.sum() + hostile * 32 * most_cost);
      // The median is within m ranks up or down among the honest machines' costs, and its bucket.
      const double share = static_cast<double>(m) / n;
      const double rank = 0.5 * (1 + share);
      EXPECT_LE(figures.quantiles->p50.estimate, 2 * MachineCost(honest, rank + 1e-6));
      EXPECT_GE(2 * figures.quantiles->p50.estimate, MachineCost(honest, rank - share - 1e-6));
    }
  }
}

// For any row, figures over all calls are near the bounded ones, or not shown.
TEST(FiguresTest, FiguresOfAllCallsAreShownOnlyNearTheBoundedOnes) {
  const auto near = [](double a, double b) {
    const double low = std::max(1.0, std::min(a, b));
    return std::max(a, b) <= kMostCostRatio * low;
  };
  int shown = 0;
  int left_out = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Field field(seed);
    std::vector<CostHistogram> contributions = field.Honest(1 + static_cast<int>(seed % 40));
    if (seed % 2 != 0) contributions.push_back(field.Hostile());
    const ApiSums sums = SumsOf(contributions);
    const Figures figures = FiguresOf(sums, Whose::kField);
    EXPECT_EQ(figures.all_calls.has_value(), AllCallsAgree(sums));
    EXPECT_NE(figures.all_calls.has_value(), figures.few_machines);
    if (!figures.all_calls) {
      ++left_out;
      continue;
    }
    ++shown;
    const CallFigures& calls = *figures.all_calls;
    EXPECT_LE(calls.totals.count, kMostTotalRatio * *figures.calls);
    EXPECT_LE(calls.totals.sum, kMostTotalRatio * *figures.sum);
    EXPECT_TRUE(near(calls.mean, *figures.mean));
    EXPECT_TRUE(near(calls.quantiles.p50.estimate, figures.quantiles->p50.estimate));
    EXPECT_TRUE(near(calls.quantiles.p95.estimate, figures.quantiles->p95.estimate));
    EXPECT_TRUE(near(calls.quantiles.p99.estimate, figures.quantiles->p99.estimate));
  }
  EXPECT_GT(shown, 100);
  EXPECT_GT(left_out, 100);
}

TEST(FiguresTest, OneMachineWithMostCallsHasThemLeftOut) {
  std::vector<CostHistogram> contributions(40, Calls(10, 1000));
  EXPECT_TRUE(AllCallsAgree(SumsOf(contributions)));
  contributions.push_back(Calls(std::uint64_t{1} << 40, 1000));  // at the same cost
  EXPECT_FALSE(AllCallsAgree(SumsOf(contributions)));
  EXPECT_EQ(FiguresOf(SumsOf(contributions), Whose::kField).calls, 655U) << "FIGURES.md";
  contributions.back() = Calls(1000, 100'000);  // not so many, but expensive
  EXPECT_FALSE(AllCallsAgree(SumsOf(contributions)));
}

TEST(FiguresTest, OwnFiguresAreExact) {
  ApiSums own;
  own.histogram = Calls(std::uint64_t{1} << 40, 1000);
  own.histogram.Merge(Calls(3, 7));
  own.scalars.contributions = 2;
  const Figures figures = FiguresOf(own, Whose::kOwn);
  EXPECT_EQ(figures.calls, own.histogram.count());
  EXPECT_EQ(figures.sum, own.histogram.sum());
  EXPECT_EQ(figures.mean, own.histogram.Mean());
  EXPECT_EQ(figures.quantiles->p50.estimate, 1000);
  EXPECT_EQ(figures.all_calls->totals, own.histogram.Totals());
  EXPECT_EQ(figures.machines, 0U);
  EXPECT_FALSE(figures.few_machines);
}

TEST(FiguresTest, FiguresAreUnknownWithoutWeightsAndBoundedSums) {
  ApiSums sums = SumsOf(std::vector<CostHistogram>(10, Calls(10, 1000)));
  EXPECT_TRUE(FiguresOf(sums, Whose::kField).all_calls);
  sums.bounded = {};
  Figures figures = FiguresOf(sums, Whose::kField);
  EXPECT_TRUE(figures.quantiles);
  EXPECT_FALSE(figures.calls || figures.sum || figures.mean || figures.all_calls);
  sums.weights = {};
  figures = FiguresOf(sums, Whose::kField);
  EXPECT_FALSE(figures.quantiles || figures.shares || figures.calls || figures.sum ||
               figures.mean || figures.all_calls || figures.few_machines);
}

TEST(FiguresTest, OneMachinesWordOnTheVariationWithinMachinesDoesNotCount) {
  std::vector<CostHistogram> contributions;
  for (int i = 0; i < 40; ++i) {
    contributions.push_back(Calls(50, 1000 + 10 * static_cast<std::uint64_t>(i)));
    contributions.back().Merge(Calls(50, 4000));
  }
  EXPECT_EQ(ScalarsForTests(SumsOf(contributions)), SumsOf(contributions).scalars);
  contributions.push_back(Calls(std::uint64_t{1} << 40, 1));
  contributions.back().Merge(Calls(std::uint64_t{1} << 40, std::uint64_t{1} << 40));
  EXPECT_EQ(ScalarsForTests(SumsOf(contributions)).sum_within_squares, 0U);
}

}  // namespace
}  // namespace fieldcost::stats
