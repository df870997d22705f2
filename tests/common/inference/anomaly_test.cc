#include "common/inference/anomaly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/common/stats/fleet_of_machines.h"
#include "tests/common/stats/published_row.h"

namespace fieldcost::inference {
namespace {

constexpr std::uint64_t kCalls = 1000;

stats::CostHistogram Calls(std::uint64_t count, std::uint64_t value) {
  stats::CostHistogram histogram;
  for (; count > 0; --count) histogram.Add(value);
  return histogram;
}

// Just meets all criteria for being flagged.
Comparison Suspect() {
  Comparison comparison;
  comparison.calls = kFieldThresholds.least_values;
  comparison.machines = kFieldThresholds.least_machines;
  comparison.call_test.by_bucket = {.p = 1e-9, .method = Method::kNormal};
  comparison.machine_test.p = 0.05;
  comparison.cliffs_delta = kFieldThresholds.least_delta;
  comparison.ratio = kFieldThresholds.least_ratio;
  return comparison;
}

Verdict Decided(Comparison comparison) {
  Decide({&comparison, 1});
  return comparison.verdict;
}

TEST(AnomalyTest, AFlagNeedsTheMachineTestAndBothEffects) {
  EXPECT_EQ(Decided(Suspect()), Verdict::kMore);
  const auto but = [](auto&& change) {
    Comparison comparison = Suspect();
    change(comparison);
    return Decided(comparison);
  };
  EXPECT_EQ(but([](auto& c) { c.machine_test.p = 0.0501; }), Verdict::kNone);
  EXPECT_EQ(but([](auto& c) { c.cliffs_delta = 0.1469; }), Verdict::kNone);
  EXPECT_EQ(but([](auto& c) { c.ratio = 1.2499; }), Verdict::kNone);
  EXPECT_EQ(but([](auto& c) { c.call_test.by_bucket.p = 1; }), Verdict::kMore);
  EXPECT_EQ(but([](auto& c) { c.calls = 99; }), Verdict::kTooLittleData);
  EXPECT_EQ(but([](auto& c) { c.machines = 29; }), Verdict::kTooLittleData);
}

// 40 machines whose calls all have the same cost; all calls of the user have the same cost, too.
Comparison OfConstants(std::uint64_t field, std::uint64_t mine) {
  stats::ApiSums sums;
  for (int machine = 0; machine < 40; ++machine) {
    stats::FleetOfMachines::Contribute(Calls(100, field), sums);
  }
  return Compare(Calls(kCalls, mine), sums);
}

TEST(AnomalyTest, ADoubledCostIsSeenWithinAPowerOfTwoAndNoSmallOneAcrossAnEdge) {
  const Comparison within = OfConstants(1030, 2040);
  EXPECT_EQ(within.call_test.by_bucket.p, 1);
  EXPECT_LT(within.machine_test.p, 1e-100);
  EXPECT_EQ(within.cliffs_delta, 1);
  EXPECT_EQ(Decided(within), Verdict::kMore);
  const Comparison across = OfConstants(1020, 1030);
  EXPECT_LT(across.call_test.by_bucket.p, 1e-300);
  EXPECT_EQ(Decided(across), Verdict::kNone);
}

// Wherever a cost is within its power of two, half as much again is found, and nothing else.
TEST(AnomalyTest, FindingsDoNotDependOnBucketEdges) {
  std::mt19937_64 random(49);
  std::normal_distribution<double> normal;
  for (const double base : {1044.0, 1178.0, 1434.0, 1946.0}) {
    const auto machine = [&](double factor) {
      stats::CostHistogram histogram;
      const double typical = base * factor * std::exp2(0.05 * normal(random));
      for (int i = 0; i < 150; ++i) {
        histogram.Add(static_cast<std::uint64_t>(typical * (1 + 0.07 * normal(random))));
      }
      return histogram;
    };
    for (int repetition = 0; repetition < 5; ++repetition) {
      stats::ApiSums field;
      for (int i = 0; i < 40; ++i) stats::FleetOfMachines::Contribute(machine(1), field);
      EXPECT_EQ(Decided(Compare(machine(1.5), field)), Verdict::kMore) << base;
      EXPECT_EQ(Decided(Compare(machine(1), field)), Verdict::kNone) << base;
    }
  }
}

TEST(AnomalyTest, ManyComparisonsNeedMoreEvidenceEachAndIneligibleOnesDoNotCount) {
  std::vector<Comparison> report(20, Suspect());
  for (std::size_t i = 1; i < report.size(); ++i) report[i].machine_test.p = 0.9;
  Decide(report);
  EXPECT_EQ(report[0].verdict, Verdict::kNone);
  EXPECT_EQ(report[0].q, 0.9);  // 0.05 * 20 is greater than the others'
  for (std::size_t i = 1; i < report.size(); ++i) report[i].calls = 10;
  Decide(report);
  EXPECT_EQ(report[0].verdict, Verdict::kMore);
  EXPECT_EQ(report[0].q, 0.05);
  EXPECT_EQ(report[1].q, 1);
  EXPECT_EQ(report[1].verdict, Verdict::kTooLittleData);
  Decide({});
}

TEST(AnomalyTest, TheOrderOfTheReportDoesNotMatter) {
  stats::FleetOfMachines fleet(0.3, 40);
  std::vector<Comparison> report;
  for (int i = 0; i < 12; ++i) {
    report.push_back(Compare(fleet.Machine(i % 3), fleet.Field(30 + i - 2)));
  }
  std::vector<Comparison> reversed(report.rbegin(), report.rend());
  Decide(report);
  Decide(reversed);
  for (std::size_t i = 0; i < report.size(); ++i) {
    EXPECT_EQ(report[i].q, reversed[report.size() - 1 - i].q);
    EXPECT_EQ(report[i].verdict, reversed[report.size() - 1 - i].verdict);
  }
}

TEST(AnomalyTest, PlantedSlownessIsFoundAndNothingElseIs) {
  stats::FleetOfMachines fleet(0.2, 41);
  std::vector<Comparison> report;
  for (int api = 0; api < 40; ++api) {
    report.push_back(Compare(fleet.Machine(api < 5 ? 2 : 0), fleet.Field(50)));
  }
  Decide(report);
  for (std::size_t api = 0; api < report.size(); ++api) {
    if (report[api].calls < kFieldThresholds.least_values) {
      EXPECT_EQ(report[api].verdict, Verdict::kTooLittleData);
    } else {
      EXPECT_EQ(report[api].verdict == Verdict::kMore, api < 5) << api;
    }
  }
}

TEST(AnomalyTest, EffectsAreThoseOfTheDefinitions) {
  stats::ApiSums field;
  stats::FleetOfMachines::Contribute(Calls(300, 16), field);
  stats::FleetOfMachines::Contribute(Calls(100, 64), field);
  stats::CostHistogram mine = Calls(50, 64);
  mine.Merge(Calls(50, 256));
  const Comparison comparison = Compare(mine, field);
  // Mine is greater in 50 * 300 + 50 * 400 pairs, equal in 50 * 100.
  EXPECT_DOUBLE_EQ(comparison.cliffs_delta, 35000.0 / 40000);
  EXPECT_DOUBLE_EQ(comparison.ratio, std::exp2(7 - 4.5));
  EXPECT_EQ(comparison.field_calls, 400U);
  EXPECT_EQ(comparison.calls, 100U);
  EXPECT_EQ(comparison.contributions, 2U);
  EXPECT_DOUBLE_EQ(Compare(Calls(10, 4), field).cliffs_delta, -1);
}

TEST(AnomalyTest, MovingMyCallsUpNeverLowersTheEffects) {
  std::mt19937_64 random(42);
  stats::FleetOfMachines fleet(0.4, 42);
  const stats::ApiSums field = fleet.Field(30);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 120; ++i) values.push_back(random() >> (40 + random() % 20));
  const auto compared = [&] {
    stats::CostHistogram mine;
    for (const std::uint64_t value : values) mine.Add(value);
    return Compare(mine, field);
  };
  Comparison before = compared();
  for (int step = 0; step < 60; ++step) {
    std::uint64_t& moved = values[random() % values.size()];
    moved = 2 * moved + 1;
    const Comparison after = compared();
    // Within a bucket, delta is that of normal distributions: almost monotonic.
    EXPECT_GE(after.cliffs_delta, before.cliffs_delta - 1e-3);
    EXPECT_GE(after.ratio, before.ratio);
    EXPECT_GE(after.machine_test.octaves_above, before.machine_test.octaves_above);
    before = after;
  }
}

TEST(AnomalyTest, MyOwnContributionIsTakenOutOfTheField) {
  stats::FleetOfMachines fleet(0.3, 43);
  const stats::ApiSums others = fleet.Field(40);
  stats::ApiSums own;
  stats::FleetOfMachines::Contribute(fleet.Machine(3), own);
  stats::ApiSums field = others;
  field.histogram.Merge(own.histogram);
  field.scalars.Merge(own.scalars);
  field.fullest_quarter.scalars = field.scalars;
  const stats::CostHistogram mine = fleet.Machine(3);
  const Comparison with = Compare(mine, field, &own);
  const Comparison without = Compare(mine, others);
  EXPECT_TRUE(with.own_removed);
  EXPECT_EQ(with.contributions, 40U);
  EXPECT_EQ(with.machines, 40U);
  EXPECT_EQ(with.machine_test.p, without.machine_test.p);
  EXPECT_EQ(with.call_test.seed, without.call_test.seed);
  EXPECT_EQ(with.ratio, without.ratio);
}

TEST(AnomalyTest, ASaltDrawsOtherPermutationsAndNothingElse) {
  stats::FleetOfMachines fleet(0, 46);
  const stats::ApiSums field = fleet.Field(40);
  const stats::CostHistogram mine = fleet.Machine();
  const Comparison plain = Compare(mine, field);
  const Comparison salted = Compare(mine, field, nullptr, 7);
  ASSERT_EQ(plain.call_test.by_bucket.method, Method::kDrawn);
  EXPECT_EQ(salted.call_test.seed, plain.call_test.seed ^ 7);
  EXPECT_NE(salted.call_test.by_bucket.p, plain.call_test.by_bucket.p);
  EXPECT_NEAR(salted.call_test.by_bucket.p, plain.call_test.by_bucket.p, 0.03);
  EXPECT_EQ(salted.machine_test.p, plain.machine_test.p);
  EXPECT_EQ(salted.cliffs_delta, plain.cliffs_delta);
  EXPECT_EQ(Compare(mine, field, nullptr, 7).call_test.by_bucket.p, salted.call_test.by_bucket.p);
}

// The published field: 40 machines, and one more.
stats::ApiSums FieldWith(stats::FleetOfMachines& fleet, const stats::CostHistogram& one_more) {
  std::vector<stats::CostHistogram> contributions;
  for (int i = 0; i < 40; ++i) contributions.push_back(fleet.Machine());
  contributions.push_back(one_more);
  stats::ApiSums field;
  field.Merge(testing::PublishedRow({}, contributions));
  return field;
}

TEST(AnomalyTest, OneMachinesCallsNeitherHideNorInventAFinding) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  stats::FleetOfMachines fleet(0.3, 47);
  const stats::ApiSums dear = FieldWith(fleet, testing::Calls(kMany, 23'000));
  const Comparison slow = Compare(fleet.Machine(2), dear);
  EXPECT_TRUE(slow.few_machines);
  EXPECT_EQ(Decided(slow), Verdict::kMore);
  EXPECT_NEAR(slow.ratio, 4, 1.5);
  EXPECT_GT(slow.cliffs_delta, 0.5);
  EXPECT_EQ(slow.call_test.by_bucket.method, Method::kNone);
  const stats::ApiSums cheap = FieldWith(fleet, testing::Calls(kMany, 1000));
  const Comparison usual = Compare(fleet.Machine(), cheap);
  EXPECT_TRUE(usual.few_machines);
  EXPECT_EQ(Decided(usual), Verdict::kNone);
  EXPECT_LT(std::abs(usual.cliffs_delta), 0.5);
  // If no machine makes most of the calls, calls are compared.
  EXPECT_FALSE(Compare(fleet.Machine(), FieldWith(fleet, fleet.Machine())).few_machines);
}

TEST(AnomalyTest, MyOwnWeightsAreTakenOutToo) {
  stats::FleetOfMachines fleet(0.3, 48);
  const stats::CostHistogram mine = testing::Calls(std::uint64_t{1} << 40, 5000);
  stats::ApiSums own;
  own.Merge(testing::PublishedRow({}, {mine}));
  stats::ApiSums field = FieldWith(fleet, mine);
  const stats::AgentWeights all = field.weights;
  ASSERT_TRUE(TakeOut(own, field));
  EXPECT_EQ(field.weights.Contributions(), 40U);
  field.weights.Merge(own.weights);
  EXPECT_EQ(field.weights, all);
  // Nothing is subtracted from sums without weights.
  stats::ApiSums unweighted = FieldWith(fleet, mine);
  unweighted.weights = {};
  ASSERT_TRUE(TakeOut(own, unweighted));
  EXPECT_EQ(unweighted.weights, stats::AgentWeights{});
}

TEST(AnomalyTest, DoesNotSubtractCallsThatWereNeverContributed) {
  stats::FleetOfMachines fleet(0.3, 44);
  const stats::ApiSums field = fleet.Field(40);
  stats::ApiSums own;
  stats::FleetOfMachines::Contribute(Calls(kCalls, 1 << 30), own);
  const Comparison comparison = Compare(fleet.Machine(), field, &own);
  EXPECT_FALSE(comparison.own_removed);
  EXPECT_EQ(comparison.contributions, 40U);
  EXPECT_EQ(comparison.field_calls, field.histogram.count());
}

TEST(AnomalyTest, EmptySidesAreTooLittleData) {
  stats::FleetOfMachines fleet(0.3, 45);
  for (const Comparison& comparison :
       {Compare({}, {}), Compare(fleet.Machine(), {}), Compare({}, fleet.Field(40))}) {
    EXPECT_EQ(Decided(comparison), Verdict::kTooLittleData);
    EXPECT_EQ(comparison.machine_test.p, 1);
    EXPECT_EQ(comparison.ratio, 1);
    EXPECT_EQ(comparison.cliffs_delta, 0);
  }
}

}  // namespace
}  // namespace fieldcost::inference
