#include "aggregator/publish/cut_rule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "aggregator/publish/class_move.h"
#include "aggregator/publish/live_cuts.h"
#include "tests/aggregator/publish/cut_world.h"

namespace fieldcost::publish {
namespace {

using Batches = CutWorld::Batches;
constexpr std::uint32_t kDay = 24 * 60 * 60;

// A world in which every agent has one batch.
class Fleet {
 public:
  explicit Fleet(std::uint64_t threshold) : world(threshold) {}

  // Batches of new agents; returns the first one's.
  CutWorld::Batch Arrive(std::size_t count, std::size_t hardware = 1, unsigned week = 0) {
    const CutWorld::Batch first = next_;
    for (std::size_t i = 0; i < count; ++i, ++next_) world.Contribute(next_, hardware, week);
    return first;
  }
  UnitChange PublishNextDay() {
    world.PassSeconds(kDay);
    return world.Publish();
  }

  CutWorld world;

 private:
  std::size_t next_ = 0;
};

Batches Range(CutWorld::Batch first, std::size_t count) {
  Batches batches;
  for (CutWorld::Batch i = first; i < first + count; ++i) batches.insert(i);
  return batches;
}

TEST(CutRuleTest, TakesACutWithAsManyNewcomersAsTheThreshold) {
  Fleet fleet(5);
  fleet.Arrive(4);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  EXPECT_TRUE(fleet.world.Published().empty());
  EXPECT_TRUE(fleet.world.unit().IsEmpty());
  fleet.Arrive(1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published(), Range(0, 5));
}

TEST(CutRuleTest, RepeatsARowUntilThereAreEnoughNewcomers) {
  Fleet fleet(5);
  fleet.Arrive(8);
  fleet.PublishNextDay();
  for (int day = 0; day < 4; ++day) {
    fleet.Arrive(1);
    const store::PublishedUnit before = fleet.world.unit();
    EXPECT_FALSE(fleet.PublishNextDay().took_cut);
    EXPECT_EQ(fleet.world.unit(), before);
  }
  fleet.Arrive(1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published(), Range(0, 13));
  EXPECT_EQ(fleet.world.unit().cuts.size(), 2u);
}

TEST(CutRuleTest, LaterBatchesOfAgentsAreNotNewcomers) {
  Fleet fleet(3);
  fleet.Arrive(3);
  fleet.PublishNextDay();
  for (std::size_t agent = 0; agent < 3; ++agent) fleet.world.SendMore(agent, 1, 1);
  fleet.Arrive(2, 1, 1);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  fleet.Arrive(1, 1, 1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published().size(), 9u);
}

TEST(CutRuleTest, AClassMovesIfItAndTheRemainderReachTheThreshold) {
  Fleet fleet(5);
  fleet.Arrive(9, 1);
  fleet.Arrive(6, 2);
  fleet.Arrive(3, 3);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 1u);
  EXPECT_EQ(fleet.world.Published(1), Range(0, 9));
  EXPECT_TRUE(fleet.world.Published(2).empty());  // 18 - 9 - 6 are 3

  Fleet other(5);
  other.Arrive(9, 1);
  other.Arrive(6, 2);
  other.Arrive(5, 3);
  EXPECT_EQ(other.PublishNextDay().moved_classes, 3u);
  EXPECT_EQ(other.world.Published(3), Range(15, 5));
}

TEST(CutRuleTest, AClassDoesNotChangeWithoutEnoughNewcomersOfItsOwn) {
  Fleet fleet(3);
  fleet.Arrive(4, 1);
  fleet.Arrive(4, 2);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 2u);
  fleet.Arrive(2, 1);
  fleet.Arrive(4, 2);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published(1), Range(0, 4));
  EXPECT_EQ(fleet.world.Published(2), Range(4, 4));  // else the difference would be 2 of class 1
}

TEST(CutRuleTest, ALaterBatchInTheRemainderHoldsAClassBack) {
  Fleet fleet(3);
  fleet.Arrive(4, 1);
  fleet.Arrive(4, 2);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1);
  fleet.world.SendMore(4, 2, 0);  // by an agent of class 2
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published(1), Range(0, 4));
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, AClassThatIsBehindCatchesUp) {
  Fleet fleet(3);
  fleet.Arrive(3, 1);
  fleet.Arrive(1, 2);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 0u);
  fleet.Arrive(3, 1);
  fleet.Arrive(1, 2);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 0u);
  EXPECT_TRUE(fleet.world.Published(1).empty());
  fleet.Arrive(3, 1);
  fleet.Arrive(1, 2);
  // In each of three cuts, the two classes hide an agent of each other.
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 2u);
  EXPECT_EQ(fleet.world.Published(1).size(), 9u);
  EXPECT_EQ(fleet.world.Published(2).size(), 3u);
  EXPECT_TRUE(fleet.world.unit().recent.empty());
}

TEST(CutRuleTest, NewcomersOfDifferentCutsDoNotHideEachOther) {
  Fleet fleet(3);
  fleet.Arrive(4, 1);
  fleet.Arrive(1, 2);
  fleet.PublishNextDay();
  fleet.Arrive(1, 1);
  fleet.Arrive(4, 2);
  // Each class has 5, but the difference of class 1 and the first cut would be one agent of each.
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 0u);
  fleet.Arrive(1, 1);
  fleet.Arrive(4, 2);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 2u);
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, AWithdrawalRemovesItsCutAndNotTheRow) {
  Fleet fleet(3);
  fleet.Arrive(4);
  fleet.PublishNextDay();
  fleet.Arrive(3);
  fleet.PublishNextDay();
  fleet.world.Withdraw(5);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 1u);
  EXPECT_EQ(fleet.world.Published(), Range(0, 4));
  // The others rejoin with as many newcomers as the threshold, in addition to the withdrawn one.
  fleet.Arrive(3);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  fleet.Arrive(1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  Batches all = Range(0, 11);
  all.erase(5);
  EXPECT_EQ(fleet.world.Published(), all);
  EXPECT_EQ(store::LiveRanges(fleet.world.unit()).size(), 1u);
}

TEST(CutRuleTest, AWithdrawalWithoutANumberRemovesTheCutsOfItsWeek) {
  Fleet fleet(3);
  fleet.Arrive(3, 1, 0);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1, 1);
  fleet.PublishNextDay();
  fleet.Arrive(2, 1, 1);
  fleet.Arrive(3, 1, 2);
  fleet.PublishNextDay();
  fleet.world.Withdraw(4, /*is_number_known=*/false);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 2u);
  EXPECT_EQ(fleet.world.Published(), Range(0, 3));
}

TEST(CutRuleTest, AWithdrawalOfWhatWasNotPublishedRemovesNothing) {
  Fleet fleet(3);
  fleet.Arrive(3);
  fleet.PublishNextDay();
  fleet.Arrive(2);
  fleet.PublishNextDay();
  fleet.world.Withdraw(3);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 0u);
  fleet.Arrive(1);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  fleet.Arrive(1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
}

TEST(CutRuleTest, AWithdrawalRemovesThePartsOfClassesThatMayContainIt) {
  Fleet fleet(3);
  fleet.Arrive(3, 1);
  fleet.Arrive(3, 2);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1);
  fleet.Arrive(1, 2);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1);
  fleet.Arrive(2, 2);
  fleet.PublishNextDay();
  ASSERT_EQ(fleet.world.Published(1).size(), 9u);
  fleet.world.Withdraw(9);  // of class 2, in the second cut
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.Published().size(), 11u);
  EXPECT_EQ(fleet.world.Published(1), Range(0, 3));
  EXPECT_EQ(fleet.world.Published(2), Range(3, 3));
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, NewcomersBeforeARemovalHideNothingAfterwards) {
  Fleet fleet(3);
  fleet.Arrive(5, 1);
  fleet.Arrive(2, 2);
  fleet.PublishNextDay();
  fleet.Arrive(5, 1);
  fleet.Arrive(2, 2);
  ASSERT_EQ(fleet.PublishNextDay().moved_classes, 2u);
  fleet.world.Withdraw(0);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1);
  fleet.Arrive(2, 2);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_TRUE(fleet.world.Published(2).empty());
  EXPECT_FALSE(fleet.world.FindIsolated());
  fleet.Arrive(3, 1);
  fleet.Arrive(1, 2);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 1u);  // the other would leave shares of old cuts
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, ExpiryRemovesCutsWithTheirOldestWeekAndClosesTheUnit) {
  Fleet fleet(3);
  fleet.Arrive(3, 1, 0);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1, 1);
  fleet.Arrive(1, 1, 0);
  fleet.PublishNextDay();
  fleet.Arrive(4, 1, 2);
  fleet.PublishNextDay();
  fleet.world.Expire(1);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 2u);
  EXPECT_EQ(fleet.world.Published(), Range(7, 4));
  fleet.Arrive(9, 1, 3);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published(), Range(7, 4));
  fleet.world.Expire(3);
  fleet.PublishNextDay();
  EXPECT_TRUE(fleet.world.unit().IsEmpty());
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
}

TEST(CutRuleTest, AClosedUnitStillRemovesWithdrawnCuts) {
  Fleet fleet(3);
  fleet.Arrive(3, 1, 1);
  fleet.Arrive(3, 2, 1);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1, 2);
  fleet.PublishNextDay();
  fleet.world.Expire(1);
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.Published().size(), 9u);
  fleet.world.Withdraw(4);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 1u);
  EXPECT_EQ(fleet.world.Published(), Range(6, 3));
  EXPECT_TRUE(fleet.world.Published(2).empty());
}

TEST(CutRuleTest, AfterARestoreRowsStayUntilThereAreEnoughNewcomersBeyondIt) {
  Fleet fleet(3);
  fleet.Arrive(3);
  fleet.PublishNextDay();
  fleet.Arrive(2);
  fleet.world.BackUp();
  fleet.Arrive(1);
  fleet.PublishNextDay();
  fleet.world.Restore();
  fleet.Arrive(2);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);  // 4 newcomers, but 2 were in the lost cut
  EXPECT_EQ(fleet.world.Published(), Range(0, 3));
  fleet.Arrive(2);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  fleet.Arrive(1);
  EXPECT_TRUE(fleet.PublishNextDay().took_cut);
  EXPECT_EQ(fleet.world.Published().size(), 10u);
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, ARestoreAppliesToUnitsWithoutCuts) {
  Fleet fleet(3);
  fleet.Arrive(2);
  fleet.world.BackUp();
  fleet.Arrive(1);
  fleet.PublishNextDay();
  fleet.world.Restore();
  fleet.PublishNextDay();
  fleet.Arrive(1);
  EXPECT_FALSE(fleet.PublishNextDay().took_cut);
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, MergesCutsOlderThanAWeekWithinTheirPeriod) {
  Fleet fleet(2);
  for (int day = 0; day < 7; ++day) {
    fleet.Arrive(2);
    fleet.PublishNextDay();
  }
  EXPECT_EQ(fleet.world.unit().cuts.size(), 7u);
  for (int day = 0; day < 4; ++day) fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.unit().cuts.size(), 5u);  // those of the first three days are one
  EXPECT_EQ(fleet.world.unit().cuts[0].last_serial, 3u);
  ASSERT_EQ(fleet.world.unit().classes[0].parts.size(), 5u);
  EXPECT_EQ(fleet.world.unit().classes[0].parts[0].ranges, fleet.world.unit().cuts[0].ranges);
  fleet.world.Withdraw(0);
  EXPECT_EQ(fleet.PublishNextDay().removed_cuts, 1u);
  EXPECT_EQ(fleet.world.Published(), Range(6, 8));
  EXPECT_EQ(fleet.world.Published(1), Range(6, 8));
}

TEST(CutRuleTest, PeriodsStaySeparate) {
  Fleet fleet(2);
  std::set<std::uint32_t> periods;
  for (int day = 0; day < 91; ++day) {
    fleet.Arrive(2);
    fleet.PublishNextDay();
  }
  for (const store::PublishedCut& cut : fleet.world.unit().cuts) periods.insert(PeriodOf(cut));
  EXPECT_GE(periods.size(), 4u);
  EXPECT_LE(fleet.world.unit().cuts.size(), periods.size() + 8);
}

TEST(CutRuleTest, FrequentPublicationsStayWithinTheLimits) {
  CutWorld world(1);
  for (std::size_t i = 0; i < 200; ++i) {
    world.Contribute(i, 1, 0);
    world.PassSeconds(600);
    if (i % 3 == 2) world.Withdraw(i - 1);
    world.Publish();
    EXPECT_LE(world.unit().cuts.size(), store::kMaxLiveCuts);
  }
}

TEST(CutRuleTest, AClassWithoutANameHasNoRow) {
  Fleet fleet(3);
  fleet.Arrive(5, 0);
  fleet.Arrive(5, 1);
  EXPECT_EQ(fleet.PublishNextDay().moved_classes, 1u);
  EXPECT_TRUE(fleet.world.Published(0).empty());
}

TEST(CutRuleTest, ManyClassesDoNotKeepALargeOneOut) {
  Fleet fleet(3);
  for (std::size_t hardware = 1; hardware <= 30; ++hardware) fleet.Arrive(1, hardware);
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.unit().classes.size(), store::kMaxTrackedClasses);
  EXPECT_TRUE(fleet.world.unit().has_untracked);
  fleet.Arrive(5, 50);
  fleet.PublishNextDay();  // its class is tracked from now on
  EXPECT_TRUE(fleet.world.Published(50).empty());
  fleet.Arrive(3, 50);
  fleet.Arrive(3, 5);
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.Published(50).size(), 8u);
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, AClassHidesNothingThatArrivedBeforeItWasTracked) {
  Fleet fleet(5);
  for (std::size_t hardware = 1; hardware <= 17; ++hardware) fleet.Arrive(1, hardware);
  fleet.PublishNextDay();
  for (int day = 0; day < 4; ++day) {
    fleet.Arrive(4, 1);
    fleet.Arrive(1, 17);
    fleet.PublishNextDay();
  }
  // Class 17 is tracked by now. It moves, with the agents that were the remainder of four cuts.
  fleet.Arrive(5, 1);
  fleet.Arrive(20, 17);
  fleet.Arrive(1, 3);
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.Published(17).size(), 25u);
  EXPECT_TRUE(fleet.world.Published(1).empty());
  EXPECT_FALSE(fleet.world.FindIsolated());
}

TEST(CutRuleTest, ForgetsTheOldestOfManyRecentCuts) {
  CutWorld world(3);
  std::size_t agent = 0;
  for (std::size_t day = 0; day < 150; ++day) {
    for (int i = 0; i < 3; ++i) world.Contribute(agent++, 1, 0);
    if (day % 40 == 0) world.Contribute(agent++, 2, 0);
    world.PassSeconds(kDay);
    world.Publish();
    EXPECT_LE(world.unit().recent.size(), store::kMaxRecentCuts);
  }
  // Never three agents of class 2 within the recent cuts.
  EXPECT_TRUE(world.Published(2).empty());
  EXPECT_FALSE(world.FindIsolated());
}

TEST(CutRuleTest, PartsNameTheirOwnRecords) {
  Fleet fleet(3);
  fleet.Arrive(3, 1);
  fleet.Arrive(3, 2);
  fleet.PublishNextDay();
  fleet.Arrive(4, 2);
  fleet.PublishNextDay();
  fleet.Arrive(3, 1);
  fleet.Arrive(3, 2);
  fleet.PublishNextDay();
  const store::TrackedClass& tracked = fleet.world.unit().classes[0];
  EXPECT_EQ(RangesOf(tracked).size(), 2u);  // nothing of class 1 is in the second cut
  fleet.world.Withdraw(7);                  // of class 2, in the second cut
  fleet.PublishNextDay();
  EXPECT_EQ(fleet.world.Published(1).size(), 6u);
  EXPECT_EQ(fleet.world.Published(2).size(), 6u);
}

TEST(ClassMoveTest, SharesOfForgottenCutsNeedFlow) {
  store::PublishedUnit unit{.next_serial = 6};
  unit.recent.push_back({.serial = 5, .is_whole = true});
  unit.classes.push_back({.hardware = ClassNumber(1), .behind_from = 5});
  unit.classes[0].newcomers.push_back({.serial = 5, .newcomers = 9});
  EXPECT_TRUE(MayMove(unit, 0, 3));  // the part equals the cut
  unit.classes[0].behind_from = 4;
  EXPECT_FALSE(MayMove(unit, 0, 3));  // the difference would be the share of an earlier cut
  unit.recent[0].is_whole = false;
  unit.recent[0].others = 3;
  EXPECT_TRUE(MayMove(unit, 0, 3));
}

// A unit whose store lacks something or holds impossible sums.
class ObstacleTest : public ::testing::Test {
 protected:
  ObstacleTest() {
    fleet_.Arrive(3);
    fleet_.PublishNextDay();
    unit_ = fleet_.world.unit();
    sums_.total = PublishedSums(unit_);
    sums_.classes.push_back({.hardware = ClassNumber(1), .sums = sums_.total});
    sums_.week_calls[0] = 3;
  }
  UnitChange Publish(std::uint64_t number) {
    return Advance({.in_store = sums_,
                    .withdrawals = {},
                    .number = number,
                    .now_s = 2'000'000'000,
                    .threshold = 3},
                   unit_);
  }
  // Twice the same agents, which is possible for sums.
  void Double() {
    sums_.total.Add(store::CompactRow(sums_.total));
    sums_.classes[0].sums.Add(store::CompactRow(sums_.classes[0].sums));
    sums_.week_calls[0] = 6;
  }

  Fleet fleet_{3};
  store::PublishedUnit unit_;
  UnitSums sums_;
};

TEST_F(ObstacleTest, NeedsNewRecords) {
  Double();
  store::PublishedUnit before = unit_;
  EXPECT_EQ(Publish(3).obstacle, CutObstacle::kNotContained);
  EXPECT_EQ(unit_, before);
  EXPECT_TRUE(Publish(4).took_cut);
}

TEST_F(ObstacleTest, TheStoreMustContainTheCuts) {
  Double();
  sums_.total.buckets[0].sums.sum = 1;
  EXPECT_EQ(Publish(9).obstacle, CutObstacle::kNotContained);
}

TEST_F(ObstacleTest, TheStoreMustContainTheParts) {
  Double();
  sums_.classes[0].sums = {};
  EXPECT_EQ(Publish(9).obstacle, CutObstacle::kNotContained);
}

TEST_F(ObstacleTest, TakesNoImpossibleSums) {
  Double();
  sums_.total.saturated = true;
  EXPECT_EQ(Publish(9).obstacle, CutObstacle::kUnsound);
}

TEST_F(ObstacleTest, AClockThatWentBackDoesNotTurnRangesAround) {
  Double();
  EXPECT_TRUE(
      Advance({.in_store = sums_, .withdrawals = {}, .number = 9, .now_s = 1, .threshold = 3},
              unit_)
          .took_cut);
  EXPECT_TRUE(store::Validate(unit_));
}

}  // namespace
}  // namespace fieldcost::publish
