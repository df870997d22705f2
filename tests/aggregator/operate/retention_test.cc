// What the server deletes by itself, and that a wrong clock makes it delete nothing.
#include "aggregator/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/store/retention.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2901;  // the newest of the test batches
constexpr std::uint32_t kKeptWeeks = 20;

class RetentionTest : public ::testing::Test {
 protected:
  RetentionTest() {
    auto store = store::Store::Open(
        {.data_dir = dir_.path() / "data", .checkpoint_seconds = 0, .probation_batches = 2});
    EXPECT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
  }
  void Send(unsigned agent, std::uint64_t sequence) {
    store::TestBatch batch;
    store::MakeTestBatch(agent, sequence, batch, nullptr);
    batch.epoch = wire::Epoch(kWeek / store::kWeeksPerEpoch);
    ASSERT_TRUE(store_->Accept(batch.View()).has_value());
  }
  Result<store::ExpiryReport> Delete(DeletionBy by = DeletionBy::kServer,
                                     std::uint32_t weeks = kKeptWeeks) {
    return DeleteOld(*store_, clock_, weeks, by);
  }
  std::size_t rows() { return store::AllRows(*store_).size(); }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::weeks(kWeek))};
  std::unique_ptr<store::Store> store_;
};

TEST_F(RetentionTest, AClockThatJumpsDeletesNothingAndRaisesNoBound) {
  const auto century = std::chrono::weeks(3900);
  clock_.Advance(century);
  ASSERT_TRUE(Delete().has_value()) << "there is nothing yet";
  EXPECT_EQ(store_->first_week(), 0U);
  Send(1, 1);
  Send(1, 2);
  Send(2, 1);  // held
  const std::size_t before = rows();
  for (const bool deleted_before : {false, true}) {
    const auto jumped = Delete();
    ASSERT_FALSE(jumped.has_value()) << deleted_before;
    EXPECT_EQ(jumped.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(jumped.error().message, HasSubstr("fieldcost-aggregator expire"));
    EXPECT_EQ(rows(), before);
    EXPECT_EQ(store_->Gauges().held_batches, 1U);
    EXPECT_TRUE(store_->healthy());
    clock_.Advance(-century);
    ASSERT_TRUE(Delete().has_value());
    EXPECT_EQ(rows(), before);
    EXPECT_EQ(store_->first_week(), kWeek - kKeptWeeks);
    clock_.Advance(century);
  }
  ASSERT_TRUE(Delete(DeletionBy::kOperator).has_value()) << "the operator knows";
  EXPECT_EQ(rows(), 0U);
}

TEST_F(RetentionTest, WeekByWeekTheOldestRowsGo) {
  Send(1, 1);
  Send(1, 2);
  const std::size_t all = rows();
  for (std::uint32_t week = 0; week < kKeptWeeks; ++week) {
    ASSERT_TRUE(Delete().has_value());
    ASSERT_EQ(rows(), all) << week;
    clock_.Advance(std::chrono::weeks(1));
  }
  const auto report = Delete();
  ASSERT_TRUE(report.has_value());
  EXPECT_GT(report->rows, 0U);
  EXPECT_EQ(rows(), all - report->rows);
  clock_.Advance(std::chrono::weeks(1));
  ASSERT_TRUE(Delete().has_value());
  EXPECT_EQ(rows(), 0U);
}

// Else batches of agents that never came again would take all the room of new ones, for ever.
TEST_F(RetentionTest, WhatIsHeldGoesOnceItsEpochIsTakenNoMoreEvenIfRowsAreKeptForEver) {
  Send(1, 1);
  Send(1, 2);
  Send(2, 1);
  const std::size_t all = rows();
  const std::uint32_t end = (kWeek / store::kWeeksPerEpoch + 2) * store::kWeeksPerEpoch;
  for (std::uint32_t week = kWeek; week < end; ++week) {
    ASSERT_EQ(Delete(DeletionBy::kServer, 0).value().held_batches, 0U);
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(Delete(DeletionBy::kServer, 0).value().held_batches, 1U);
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
  EXPECT_EQ(store_->first_week(), 0U);
  EXPECT_EQ(rows(), all);
}

TEST_F(RetentionTest, BatchesAreForgottenOnceNoneOfTheirQuarterIsTaken) {
  Send(1, 1);
  Send(1, 2);
  const std::size_t all = rows();
  const std::uint32_t end = (kWeek / store::kWeeksPerEpoch + 2) * store::kWeeksPerEpoch;
  for (std::uint32_t week = kWeek; week < end; ++week) {
    ASSERT_EQ(Delete(DeletionBy::kServer, 0).value().kept_batches, 0U);
    ASSERT_EQ(store_->BatchesOf(store::TestAgent(1))->kept.size(), 2U) << week;
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(Delete(DeletionBy::kServer, 0).value().kept_batches, 2U);
  EXPECT_TRUE(store_->BatchesOf(store::TestAgent(1))->kept.empty());
  EXPECT_EQ(store_->Verify()->kept_batches, 0U);
  EXPECT_EQ(rows(), all);
}

TEST_F(RetentionTest, WhatIsHeldGoesAlsoWhereNobodyHasEverEndedItsProbation) {
  Send(1, 1);
  for (int week = 0; week < 30; ++week) {
    ASSERT_TRUE(Delete(DeletionBy::kServer, 0).has_value());
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
}

}  // namespace
}  // namespace fieldcost::aggregator
