// Automatic deletion by the server; with a wrong clock it must delete nothing.
#include "aggregator/upkeep/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/store/retention_rules.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2901;  // the newest week of the test batches
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
  Result<store::ExpiryReport> Delete(std::uint32_t weeks = kKeptWeeks) {
    return DeleteOld(*store_, clock_, weeks);
  }
  Result<store::ExpiryEffect> DeleteUpTo(std::uint32_t week, bool yes,
                                         std::uint32_t weeks = kKeptWeeks) {
    return DeleteBefore(*store_, clock_, weeks, week, yes);
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
    EXPECT_THAT(jumped.error().message,
                HasSubstr("`fieldcost-aggregator expire --config FILE --before " +
                          std::to_string(kWeek + 3900 - kKeptWeeks) + "`"));
    EXPECT_EQ(rows(), before);
    EXPECT_EQ(store_->Gauges().held_batches, 1U);
    EXPECT_TRUE(store_->healthy());
    clock_.Advance(-century);
    ASSERT_TRUE(Delete().has_value());
    EXPECT_EQ(rows(), before);
    EXPECT_EQ(store_->first_week(), kWeek - kKeptWeeks);
    clock_.Advance(century);
  }
  ASSERT_TRUE(DeleteUpTo(kWeek + 3900 - kKeptWeeks, true).has_value()) << "the operator knows";
  EXPECT_EQ(rows(), 0U);
  EXPECT_TRUE(Delete().has_value()) << "and the server believes him";
}

TEST_F(RetentionTest, TheOperatorSeesExactlyWhatWillGoBeforeItGoes) {
  Send(1, 1);
  Send(1, 2);
  Send(2, 1);  // held
  const std::size_t all = rows();
  for (const int weeks_later : {0, 1, 14, 40}) {
    const std::uint32_t week = kWeek + static_cast<std::uint32_t>(weeks_later);
    clock_.Advance(std::chrono::weeks(100));
    const auto before = store::AllRows(*store_);
    const auto effect = DeleteUpTo(week, false);
    ASSERT_TRUE(effect.has_value()) << effect.error().message;
    EXPECT_EQ(store::AllRows(*store_), before);
    EXPECT_EQ(effect->rows + effect->rows_left, before.size());
    if (effect->rows != 0) {
      EXPECT_GE(effect->oldest_week, kWeek - 1);
      EXPECT_LT(effect->newest_week, week);
    }
    const auto done = DeleteUpTo(week, true);
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->rows, effect->rows);
    EXPECT_EQ(done->ledger_entries, effect->ledger_entries) << weeks_later;
    EXPECT_EQ(done->held_batches, effect->held_batches) << weeks_later;
    EXPECT_EQ(done->kept_batches, effect->kept_batches) << weeks_later;
    EXPECT_EQ(rows(), effect->rows_left);
    EXPECT_EQ(store_->first_week(), week);
  }
  EXPECT_NE(all, 0U);
  EXPECT_EQ(rows(), 0U);
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
}

TEST_F(RetentionTest, TheOperatorDeletesNothingThatIsToBeKept) {
  Send(1, 1);
  Send(1, 2);
  const std::size_t all = rows();
  clock_.Advance(std::chrono::weeks(10));
  for (const bool yes : {false, true}) {
    const auto future = DeleteUpTo(kWeek + 11, yes);
    ASSERT_FALSE(future.has_value());
    EXPECT_EQ(future.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(future.error().message, HasSubstr("is in the future"));
    const auto kept = DeleteUpTo(kWeek + 10 - kKeptWeeks + 1, yes);
    ASSERT_FALSE(kept.has_value());
    EXPECT_THAT(kept.error().message, HasSubstr("store.retention_weeks = 20 keeps those"));
    EXPECT_TRUE(DeleteUpTo(kWeek + 10 - kKeptWeeks, yes).has_value());
    EXPECT_EQ(DeleteUpTo(kWeek + 10, yes, 0).value().rows, 0U) << "rows are kept forever";
  }
  EXPECT_EQ(rows(), all);
}

TEST_F(RetentionTest, DeletingLessThanDueDoesNotConfirmTheClock) {
  Send(1, 1);
  Send(1, 2);
  ASSERT_TRUE(Delete().has_value());
  ASSERT_TRUE(DeleteUpTo(kWeek - 2 * kKeptWeeks, true).has_value());
  clock_.Advance(std::chrono::weeks(1));
  EXPECT_TRUE(Delete().has_value()) << "it was last done a week ago";
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

// Otherwise held batches of agents that never return would permanently take the space of new ones.
TEST_F(RetentionTest, HeldBatchesExpireWithTheirEpochEvenIfRowsAreKept) {
  Send(1, 1);
  Send(1, 2);
  Send(2, 1);
  const std::size_t all = rows();
  const std::uint32_t end = (kWeek / store::kWeeksPerEpoch + 2) * store::kWeeksPerEpoch;
  for (std::uint32_t week = kWeek; week < end; ++week) {
    ASSERT_EQ(Delete(0).value().held_batches, 0U);
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(Delete(0).value().held_batches, 1U);
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
    ASSERT_EQ(Delete(0).value().kept_batches, 0U);
    ASSERT_EQ(store_->BatchesOf(store::TestAgent(1))->kept.size(), 2U) << week;
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(Delete(0).value().kept_batches, 2U);
  EXPECT_TRUE(store_->BatchesOf(store::TestAgent(1))->kept.empty());
  EXPECT_EQ(store_->Verify()->kept_batches, 0U);
  EXPECT_EQ(rows(), all);
}

TEST_F(RetentionTest, HeldBatchesExpireWithoutAnyReleasedAgent) {
  Send(1, 1);
  for (int week = 0; week < 30; ++week) {
    ASSERT_TRUE(Delete(0).has_value());
    clock_.Advance(std::chrono::weeks(1));
  }
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
}

}  // namespace
}  // namespace fieldcost::aggregator
