// What retention removes; all sums must stay exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <thread>

#include "aggregator/store/retention_rules.h"
#include "aggregator/store/store.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using ::testing::HasSubstr;

constexpr std::uint32_t kOldWeek = 2900;  // the test batches have rows of this week and the next

class ExpireTest : public ::testing::Test {
 protected:
  StoreOptions Options() const {
    return {.data_dir = dir_.path() / "data", .checkpoint_seconds = 0};
  }

  void Open() {
    store_.reset();
    auto store = Store::Open(Options());
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
  }
  void Feed(unsigned agent, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
      TestBatch batch;
      MakeTestBatch(agent, sequence, batch, &sums_);
      ASSERT_TRUE(store_->Accept(batch.View()).has_value());
    }
  }
  ExpiryReport MustExpire(std::uint32_t week, std::uint64_t epoch) {
    const auto report = store_->Expire(week, wire::Epoch(epoch));
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report.value_or(ExpiryReport());
  }
  void ExpectGood() {
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok()) << report->first_problem;
  }
  // Also removes the rows from the expected sums; returns how many.
  std::size_t DropWeeksBefore(std::uint32_t week) {
    return std::erase_if(sums_, [&](const auto& row) { return row.first.week < week; });
  }

  const TempDir dir_;
  std::unique_ptr<Store> store_;
  Sums sums_;
};

TEST_F(ExpireTest, ExpiredWeeksGoAndTheOthersKeepTheirBits) {
  Open();
  Feed(1, 1, 30);
  ASSERT_TRUE(store_->Checkpoint().has_value());
  Feed(2, 1, 30);  // still in the inbox
  const std::size_t expired = DropWeeksBefore(kOldWeek + 1);
  ASSERT_GT(expired, 0U);
  EXPECT_EQ(MustExpire(kOldWeek + 1, 0).rows, expired);
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
  EXPECT_EQ(MustExpire(kOldWeek + 1, 0).rows, 0U);
  Open();
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
}

TEST_F(ExpireTest, BoundsAreDurableAndNeverGoBack) {
  Open();
  EXPECT_EQ(store_->first_week(), 0U);
  EXPECT_EQ(store_->first_epoch(), wire::Epoch(0));
  MustExpire(2901, 7);
  MustExpire(2000, 9);
  MustExpire(2002, 3);
  Open();
  EXPECT_EQ(store_->first_week(), 2901U);
  EXPECT_EQ(store_->first_epoch(), wire::Epoch(9));
}

TEST_F(ExpireTest, AWithdrawalPassesOverExpiredRows) {
  Open();
  Feed(1, 1, 10);
  Sums with_all = sums_;
  TestBatch batch;
  MakeTestBatch(2, 1, batch, nullptr);
  ASSERT_TRUE(store_->Accept(batch.View()).has_value());
  MustExpire(kOldWeek + 1, 0);
  const auto result = store_->Withdraw(batch.Undo());
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->withdrawn_rows, batch.rows.row_count());
  DropWeeksBefore(kOldWeek + 1);
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
  EXPECT_EQ(store_->Withdraw(batch.Undo()).value().kind, WithdrawalKind::kRepeated);
}

TEST_F(ExpireTest, SubtractsAJustWithdrawnBatchOnce) {
  Open();
  Feed(1, 1, 10);
  TestBatch batch;
  MakeTestBatch(2, 1, batch, nullptr);
  ASSERT_TRUE(store_->Accept(batch.View()).has_value());
  ASSERT_TRUE(store_->Checkpoint().has_value());
  ASSERT_TRUE(store_->Withdraw(batch.Undo()).has_value());
  MustExpire(kOldWeek + 1, 0);
  DropWeeksBefore(kOldWeek + 1);
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
}

TEST_F(ExpireTest, AForgottenEpochTakesNoReplayAndNoEnrolment) {
  Open();
  Feed(1, 1, 3);
  const std::string agent = TestAgent(1);
  ASSERT_TRUE(store_->Enrol(agent, wire::Epoch(1)).has_value());
  ASSERT_TRUE(store_->Enrol(agent, wire::Epoch(2)).has_value());
  TestBatch kept;
  MakeTestBatch(1, 4, kept, &sums_);
  kept.epoch = wire::Epoch(2);
  ASSERT_TRUE(store_->Accept(kept.View()).has_value());
  // One ledger head, three answers and one enrolment.
  EXPECT_EQ(MustExpire(0, 2).ledger_entries, 5U);
  EXPECT_FALSE(store_->IsEnrolled(agent, wire::Epoch(1)).value());
  EXPECT_TRUE(store_->IsEnrolled(agent, wire::Epoch(2)).value());
  TestBatch replay;
  MakeTestBatch(1, 2, replay, nullptr);
  const auto refused = store_->Accept(replay.View());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("expired"));
  EXPECT_FALSE(store_->Enrol(agent, wire::Epoch(1)).has_value());
  EXPECT_TRUE(store_->Accept(kept.View()).value().replay);
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
}

TEST_F(ExpireTest, BindingSurvivesRestartsAndExpiresWithItsEpoch) {
  Open();
  for (const std::uint64_t epoch : {1, 2}) {
    TestBatch batch;
    MakeTestBatch(1, 1, batch, nullptr);
    batch.epoch = wire::Epoch(epoch);
    AcceptedBatch accepted = batch.View();
    accepted.bind = AgentBinding{.class_hash = 10 * epoch};
    ASSERT_TRUE(store_->Accept(accepted).has_value());
  }
  Open();
  const std::string agent = TestAgent(1);
  EXPECT_EQ(store_->GetBinding(agent, wire::Epoch(1)).value()->class_hash, 10U);
  EXPECT_EQ(store_->FirstEpochOf(agent).value(), wire::Epoch(1));
  EXPECT_FALSE(store_->FirstEpochOf(TestAgent(2)).value().has_value());
  EXPECT_EQ(store_->GetBinding(agent, wire::Epoch(2)).value()->class_hash, 20U);
  EXPECT_FALSE(store_->GetBinding(TestAgent(2), wire::Epoch(1)).value().has_value());
  MustExpire(0, 2);
  EXPECT_FALSE(store_->GetBinding(agent, wire::Epoch(1)).value().has_value());
  EXPECT_EQ(store_->GetBinding(agent, wire::Epoch(2)).value()->class_hash, 20U);
}

TEST_F(ExpireTest, ARowAtItsNumbersLimitGoesAndWhatIsLeftStillAddsUp) {
  Open();
  Feed(1, 1, 10);
  stats::CostHistogram huge;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  huge.SetBucket(1, {.count = kMost, .sum = kMost, .sum_of_squares = kMost});
  TestBatch batch;
  batch.agent_id = TestAgent(2);
  batch.rows.Add(TestKey(100), huge, Contribution::kNone);
  ASSERT_EQ(TestKey(100).week, kOldWeek);
  for (const std::uint64_t sequence : {1U, 2U}) {
    batch.sequence = wire::Sequence(sequence);
    ASSERT_TRUE(store_->Accept(batch.View()).has_value());
  }
  EXPECT_EQ(store_->Verify().value().saturated_rows, 1U);
  DropWeeksBefore(kOldWeek + 1);
  MustExpire(kOldWeek + 1, 0);
  EXPECT_EQ(AllRows(*store_), sums_);
  EXPECT_EQ(store_->Verify().value().saturated_rows, 0U);
  ExpectGood();
}

TEST_F(ExpireTest, HeldBatchesGoWithTheirEpoch) {
  StoreOptions options = Options();
  options.probation_batches = 3;
  store_ = std::move(*Store::Open(options));
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  ASSERT_TRUE(store_->Accept(batch.View()).value().held);
  batch.epoch = wire::Epoch(2);
  ASSERT_TRUE(store_->Accept(batch.View()).value().held);
  EXPECT_EQ(store_->Gauges().held_batches, 2U);
  EXPECT_EQ(MustExpire(0, 2).held_batches, 1U);
  EXPECT_EQ(store_->Gauges().held_batches, 1U);
  EXPECT_TRUE(AllRows(*store_).empty());
  ExpectGood();
}

// If it was counted twice, a batch that is still held would be treated as part of the sums.
TEST_F(ExpireTest, RevocationLeavesHeldBatchesOfExpiredEpochsToExpiry) {
  bool revoke = false;
  StoreOptions options = Options();
  options.probation_batches = 2;
  options.on_checkpoint = [&](CheckpointStage) {
    if (std::exchange(revoke, false)) {
      EXPECT_TRUE(store_->Revoke(TestAgent(1)).has_value());
    }
  };
  store_ = std::move(*Store::Open(options));
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  ASSERT_TRUE(store_->Accept(batch.View()).value().held);
  batch.epoch = wire::Epoch(2);
  ASSERT_TRUE(store_->Accept(batch.View()).value().held);
  MakeTestBatch(3, 1, batch, nullptr);
  ASSERT_TRUE(store_->Accept(batch.View()).value().held);
  Feed(2, 1, 2);
  revoke = true;
  EXPECT_EQ(MustExpire(kOldWeek, 2).held_batches, 1U) << "the other one is revoked";
  EXPECT_FALSE(revoke);
  EXPECT_EQ(store_->Gauges().held_batches, 1U);
  EXPECT_EQ(store_->Withdraw(batch.Undo()).value().withdrawn_rows, batch.rows.row_count());
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
  EXPECT_EQ(store_->Gauges().held_bytes, 0U);
  EXPECT_EQ(AllRows(*store_), sums_);
  ExpectGood();
}

TEST_F(ExpireTest, WithdrawingFromAForgottenEpochReportsWhetherItIsGone) {
  Open();
  Feed(1, 1, 3);
  TestBatch batch;
  MakeTestBatch(1, 2, batch, nullptr);
  MustExpire(0, 2);  // its rows are still stored
  const auto unknown = store_->Withdraw(batch.Undo());
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  MustExpire(kOldWeek + 2, 2);
  EXPECT_TRUE(AllRows(*store_).empty());
  EXPECT_EQ(store_->Withdraw(batch.Undo()).value().withdrawn_rows, batch.rows.row_count());
  ExpectGood();
}

TEST_F(ExpireTest, BatchesThatComeMeanwhileAreAllCounted) {
  Open();
  Feed(1, 1, 50);
  std::vector<Sums> added(3);
  std::vector<std::thread> threads;
  for (unsigned agent = 2; agent < 5; ++agent) {
    threads.emplace_back([this, agent, &sums = added[agent - 2]] {
      for (std::uint64_t sequence = 1; sequence <= 60; ++sequence) {
        TestBatch batch;
        MakeTestBatch(agent, sequence, batch, &sums);
        ASSERT_TRUE(store_->Accept(batch.View()).has_value());
      }
    });
  }
  for (std::uint32_t week = kOldWeek - 5; week <= kOldWeek + 1; ++week) MustExpire(week, 1);
  for (std::thread& thread : threads) thread.join();
  for (const Sums& more : added) {
    for (const auto& [key, row] : more) {
      TestRow& sum = sums_[key];
      sum.key = key;
      sum.histogram.Merge(row.histogram);
      sum.scalars.Merge(row.scalars);
    }
  }
  DropWeeksBefore(kOldWeek + 1);
  for (const auto& [key, row] : sums_) {
    EXPECT_EQ(store_->Get(key).value()->histogram, row.histogram);
    EXPECT_EQ(store_->Get(key).value()->scalars, row.scalars);
  }
  ExpectGood();
}

TEST_F(ExpireTest, KilledAtAnyMomentItIsConsistentAndTheNextCallFinishes) {
  std::random_device device;
  const unsigned seed = device();
  std::mt19937 random(seed);
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  Open();
  {
    // More rows than one step removes, in two weeks.
    TestBatch batch;
    stats::CostHistogram histogram;
    histogram.Add(9);
    for (unsigned number = 0; number < 3 * kExpiryStepEntries; ++number) {
      batch.rows.Add(TestKey(number), histogram, Contribution::kFirst);
    }
    batch.agent_id = TestAgent(1);
    ASSERT_TRUE(store_->Accept(batch.View()).has_value());
    ASSERT_TRUE(store_->Checkpoint().has_value());
  }
  Feed(2, 1, 40);
  store_.reset();
  const std::filesystem::path good = dir_.path() / "good";
  std::filesystem::rename(dir_.path() / "data", good);
  for (int round = 0; round < 8; ++round) {
    std::filesystem::remove_all(dir_.path() / "data");
    std::filesystem::copy(good, dir_.path() / "data", std::filesystem::copy_options::recursive);
    testing::ProcessOptions command;
    command.arguments = {FIELDCOST_STORE_WRITER, (dir_.path() / "data").string(), "expire",
                         std::to_string(kOldWeek + 1), "2"};
    testing::BackgroundProcess process(command);
    ASSERT_TRUE(process.WaitForLine("ready"));
    // Waits for a random amount of work, not time.
    volatile std::uint64_t work = 0;
    for (auto i = random() % 200'000'000; i > 0; --i) work = work + i;
    process.Signal(SIGKILL);
    const testing::ProcessResult result = process.Wait();
    EXPECT_TRUE(result.signal == SIGKILL || result.exit_status == 0) << result.output;
    Open();
    ExpectGood();
    MustExpire(kOldWeek + 1, 2);
    ExpectGood();
    const Sums left = AllRows(*store_);
    EXPECT_FALSE(left.empty());
    for (const auto& [key, row] : left) ASSERT_EQ(key.week, kOldWeek + 1);
    for (const auto& [key, row] : sums_) {
      if (key.week <= kOldWeek) continue;
      ASSERT_TRUE(left.contains(key));
    }
    store_.reset();
  }
}

TEST(RetentionTest, AnEpochIsForgottenOnlyWhenNothingOfItCanComeOrIsLeft) {
  for (std::uint32_t weeks : {1U, 8U, 12U, 13U, 14U, 26U, 52U, 520U}) {
    for (std::uint32_t now = 2900; now < 3000; ++now) {
      const RetentionBounds bounds = BoundsOf(now, weeks);
      EXPECT_EQ(bounds.first_week, now - weeks);
      ASSERT_GT(bounds.first_epoch.value(), 0U);
      const std::uint64_t last_forgotten = bounds.first_epoch.value() - 1;
      const std::uint64_t current = now / kWeeksPerEpoch;
      EXPECT_LT(last_forgotten + kEpochsAround, current);
      // The last week in which a batch of the forgotten epoch could be accepted, and its newest
      // row's week.
      const std::uint64_t last_week = (last_forgotten + kEpochsAround + 1) * kWeeksPerEpoch - 1;
      EXPECT_LT(last_week + kWeeksAhead, bounds.first_week);
      // And the epoch is forgotten no later than necessary.
      EXPECT_GE(last_week + kWeeksPerEpoch + kWeeksAhead, bounds.first_week);
    }
  }
  EXPECT_EQ(BoundsOf(2960, 0).first_week, 0U);
  EXPECT_EQ(BoundsOf(2960, 0).first_epoch, wire::Epoch(0));
  EXPECT_EQ(BoundsOf(10, 20).first_week, 0U);
}

}  // namespace
}  // namespace fieldcost::store
