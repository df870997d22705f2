#include "aggregator/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <thread>

#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using ::testing::HasSubstr;

// Makes checkpoints only on request.
StoreOptions ManualOptions(const TempDir& dir) {
  return {.data_dir = dir.path() / "data", .checkpoint_seconds = 0};
}

std::unique_ptr<Store> MustOpen(const StoreOptions& options) {
  auto store = Store::Open(options);
  EXPECT_TRUE(store.has_value()) << store.error().message;
  return std::move(*store);
}

AcceptResult MustAccept(Store& store, const TestBatch& batch) {
  auto result = store.Accept(batch.View());
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::move(*result);
}

void Feed(Store& store, unsigned agent, std::uint64_t first, std::uint64_t last, Sums* sums) {
  TestBatch batch;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    MakeTestBatch(agent, sequence, batch, sums);
    ASSERT_FALSE(MustAccept(store, batch).replay);
  }
}

void ExpectReads(Store& store, const Sums& sums) {
  for (const auto& [key, row] : sums) {
    const auto found = store.Get(key);
    ASSERT_TRUE(found.has_value() && found->has_value());
    ASSERT_EQ(**found, row);
  }
}

TEST(StoreTest, ReadsAreTheNewestSumsBeforeDuringAndAfterACheckpoint) {
  const TempDir dir;
  Sums sums;
  StoreOptions options = ManualOptions(dir);
  Store* observed = nullptr;
  int stages = 0;
  options.on_checkpoint = [&](CheckpointStage) {
    if (observed == nullptr) return;
    ++stages;
    // More batches arrive during the checkpoint.
    Feed(*observed, 9, static_cast<std::uint64_t>(stages), static_cast<std::uint64_t>(stages),
         &sums);
    ExpectReads(*observed, sums);
  };
  const auto store = MustOpen(options);
  observed = store.get();
  Feed(*store, 1, 1, 20, &sums);
  ExpectReads(*store, sums);
  ASSERT_TRUE(store->Checkpoint().has_value());
  EXPECT_EQ(stages, 2);
  observed = nullptr;
  ExpectReads(*store, sums);
  Feed(*store, 1, 21, 30, &sums);
  ExpectReads(*store, sums);
  EXPECT_EQ(AllRows(*store), sums);
  const auto unknown = store->Get(TestKey(1000));
  ASSERT_TRUE(unknown.has_value());
  EXPECT_FALSE(unknown->has_value());
}

TEST(StoreTest, OnlyAFirstContributionAddsScalars) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir));
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {20, 30, 40}) histogram.Add(value);
  TestBatch batch;
  batch.agent_id = TestAgent(1);
  batch.rows.Add(TestKey(1), histogram, Contribution::kFirst);
  MustAccept(*store, batch);
  batch.sequence = wire::Sequence(2);
  batch.rows.Clear();
  batch.rows.Add(TestKey(1), histogram, Contribution::kNone);
  MustAccept(*store, batch);
  const auto row = store->Get(TestKey(1));
  ASSERT_TRUE(row.has_value() && row->has_value());
  EXPECT_EQ((*row)->scalars, stats::ScalarsOf(histogram));
  EXPECT_EQ((*row)->histogram.count(), 6U);
}

TEST(StoreTest, AReplayGetsTheFirstAnswerAndAddsNothing) {
  const TempDir dir;
  Sums sums;
  TestBatch batch;
  {
    const auto store = MustOpen(ManualOptions(dir));
    MakeTestBatch(1, 1, batch, &sums);
    EXPECT_EQ(MustAccept(*store, batch).answer, "answer 1 1");
    batch.answer = "another answer";
    const AcceptResult again = MustAccept(*store, batch);
    EXPECT_TRUE(again.replay);
    EXPECT_EQ(again.answer, "answer 1 1");
    EXPECT_EQ(AllRows(*store), sums);
  }
  const auto store = MustOpen(ManualOptions(dir));
  const AcceptResult again = MustAccept(*store, batch);
  EXPECT_TRUE(again.replay);
  EXPECT_EQ(again.answer, "answer 1 1");
  EXPECT_EQ(AllRows(*store), sums);
}

TEST(StoreTest, AnotherAgentOrEpochIsAnotherLedger) {
  const TempDir dir;
  Sums sums;
  const auto store = MustOpen(ManualOptions(dir));
  TestBatch batch;
  MakeTestBatch(1, 1, batch, &sums);
  EXPECT_FALSE(MustAccept(*store, batch).replay);
  MakeTestBatch(1, 1, batch, &sums);
  batch.epoch = wire::Epoch(2);
  EXPECT_FALSE(MustAccept(*store, batch).replay);
  MakeTestBatch(2, 1, batch, &sums);
  EXPECT_FALSE(MustAccept(*store, batch).replay);
  EXPECT_EQ(AllRows(*store), sums);
}

TEST(StoreTest, ASequenceBelowTheWindowIsRefusedWhetherSeenOrNot) {
  const TempDir dir;
  Sums sums;
  const auto store = MustOpen(ManualOptions(dir));
  Feed(*store, 1, 2, 2, &sums);
  Feed(*store, 1, 100, 100, &sums);
  TestBatch batch;
  for (const std::uint64_t sequence : {0, 1, 2, 36}) {
    MakeTestBatch(1, sequence, batch, nullptr);
    const auto result = store->Accept(batch.View());
    ASSERT_FALSE(result.has_value()) << sequence;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message,
                HasSubstr(sequence == 0 ? "start at 1" : "sequence too old"));
  }
  Feed(*store, 1, 37, 37, &sums);
  EXPECT_EQ(AllRows(*store), sums);
}

TEST(StoreTest, ReopeningReplaysWhatNoCheckpointHadCovered) {
  const TempDir dir;
  Sums sums;
  {
    const auto store = MustOpen(ManualOptions(dir));
    Feed(*store, 1, 1, 10, &sums);
    ASSERT_TRUE(store->Checkpoint().has_value());
    Feed(*store, 1, 11, 25, &sums);
  }
  StoreOptions options = ManualOptions(dir);
  options.checkpoint_rows = 7;  // the replay itself must make checkpoints
  for (int i = 0; i < 2; ++i) {
    const auto store = MustOpen(options);
    EXPECT_EQ(store->sequence(), 25U);
    ExpectReads(*store, sums);
    EXPECT_EQ(AllRows(*store), sums);
  }
}

TEST(StoreTest, ManyAgentsAtOnceAndBackgroundCheckpointsAddUpExactly) {
  const TempDir dir;
  constexpr unsigned kAgents = 6;
  constexpr std::uint64_t kBatches = 60;
  StoreOptions options = ManualOptions(dir);
  options.checkpoint_seconds = 3600;
  options.checkpoint_rows = 25;
  options.checkpoint_bytes = 40 * kKiB;
  Sums sums;
  TestBatch scratch;
  for (unsigned agent = 0; agent < kAgents; ++agent) {
    for (std::uint64_t i = 1; i <= kBatches; ++i) MakeTestBatch(agent, i, scratch, &sums);
  }
  {
    const auto store = MustOpen(options);
    std::latch start(kAgents);
    std::vector<std::thread> threads;
    for (unsigned agent = 0; agent < kAgents; ++agent) {
      threads.emplace_back([&, agent] {
        start.arrive_and_wait();
        Feed(*store, agent, 1, kBatches, nullptr);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ExpectReads(*store, sums);
  }
  const auto store = MustOpen(options);
  EXPECT_EQ(store->sequence(), kAgents * kBatches);
  EXPECT_EQ(AllRows(*store), sums);
}

TEST(StoreTest, OneBatchSentByManyAtOnceIsAddedOnce) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir));
  Sums sums;
  TestBatch batch;
  MakeTestBatch(1, 1, batch, &sums);
  std::atomic<int> fresh{0};
  std::latch start(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      const auto result = store->Accept(batch.View());
      ASSERT_TRUE(result.has_value());
      EXPECT_EQ(result->answer, "answer 1 1");
      if (!result->replay) ++fresh;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(AllRows(*store), sums);
}

TEST(StoreTest, ASnapshotStaysAsItWasWhileTheStoreMovesOn) {
  const TempDir dir;
  Sums sums;
  const auto store = MustOpen(ManualOptions(dir));
  Feed(*store, 1, 1, 5, &sums);
  const auto snapshot = store->TakeSnapshot();
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->sequence(), 5U);
  Feed(*store, 1, 6, 9, nullptr);
  ASSERT_TRUE(store->Checkpoint().has_value());
  for (int pass = 0; pass < 2; ++pass) {
    Sums seen;
    ASSERT_TRUE(snapshot
                    ->ForEach([&](const stats::RowKey& key, const CompactRow& row) -> Status {
                      seen[key] = MakeTestRow(key, row);
                      return {};
                    })
                    .has_value());
    EXPECT_EQ(seen, sums);
  }
}

TEST(StoreTest, TwoStoresCannotHaveOneDirectory) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir));
  const auto second = Store::Open(ManualOptions(dir));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(second.error().message, HasSubstr("in use by another fieldcost-aggregator"));
}

TEST(StoreTest, AFileInPlaceOfTheDirectoryIsRefusedByName) {
  const TempDir dir;
  std::ofstream(dir.path() / "data") << "x";
  const auto store = Store::Open(ManualOptions(dir));
  ASSERT_FALSE(store.has_value());
  EXPECT_THAT(store.error().message, HasSubstr((dir.path() / "data").string()));
}

TEST(StoreTest, ABindingHoldsAcrossRestarts) {
  const TempDir dir;
  for (int i = 0; i < 2; ++i) {
    const auto store = MustOpen(ManualOptions(dir));
    EXPECT_TRUE(store->Bind("secret", "one").has_value());
    const Status other = store->Bind("secret", "two");
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().code, ErrorCode::kCorrupt);
  }
}

TEST(StoreTest, VerifyReAddsWhatWasAccepted) {
  const TempDir dir;
  Sums sums;
  const auto store = MustOpen(ManualOptions(dir));
  Feed(*store, 1, 1, 30, &sums);
  const auto report = store->Verify();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->ok()) << report->first_problem;
  EXPECT_EQ(report->rows, sums.size());
  EXPECT_EQ(report->expected.batches, 30U);
  stats::Uint128 calls = 0;
  for (const auto& [key, row] : sums) calls += row.histogram.count();
  EXPECT_TRUE(report->found.calls == calls);
}

TEST(StoreTest, VerifyFindsARowOutsideThePolytope) {
  for (const unsigned probation_batches : {0U, 3U}) {  // with 3, the batch is held
    SCOPED_TRACE(probation_batches);
    const TempDir dir;
    StoreOptions options = ManualOptions(dir);
    options.probation_batches = probation_batches;
    const auto store = MustOpen(options);
    stats::CostHistogram impossible;
    impossible.SetBucket(3, {.count = 2, .sum = 100, .sum_of_squares = 50});
    TestBatch batch;
    batch.agent_id = TestAgent(1);
    batch.rows.Add(TestKey(1), impossible, Contribution::kNone);
    MustAccept(*store, batch);
    const auto report = store->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_FALSE(report->ok());
    EXPECT_EQ(report->invalid_rows, probation_batches == 0 ? 2U : 1U) << "and as it came";
    EXPECT_EQ(report->held_batches, probation_batches == 0 ? 0U : 1U);
    EXPECT_THAT(report->first_problem, HasSubstr("function_1"));
  }
}

}  // namespace
}  // namespace fieldcost::store
