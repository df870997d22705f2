#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <map>
#include <random>
#include <thread>

#include "aggregator/store/store.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using ::testing::HasSubstr;

StoreOptions ManualOptions(const std::filesystem::path& directory) {
  return {.data_dir = directory, .checkpoint_seconds = 0};
}

std::unique_ptr<Store> MustOpen(const StoreOptions& options) {
  auto store = Store::Open(options);
  EXPECT_TRUE(store.has_value()) << store.error().message;
  return std::move(*store);
}

void Accept(Store& store, unsigned agent, std::uint64_t sequence) {
  TestBatch batch;
  MakeTestBatch(agent, sequence, batch, nullptr);
  const auto result = store.Accept(batch.View());
  ASSERT_TRUE(result.has_value()) << result.error().message;
}

Result<WithdrawResult> Withdraw(Store& store, unsigned agent, std::uint64_t sequence) {
  TestBatch batch;
  MakeTestBatch(agent, sequence, batch, nullptr);
  return store.Withdraw(batch.Undo());
}

// Returns the contents of a store that only ever received these batches.
Dump DumpOfOnly(const std::filesystem::path& directory,
                const std::set<std::pair<unsigned, std::uint64_t>>& batches) {
  const auto store = MustOpen(ManualOptions(directory));
  for (const auto& [agent, sequence] : batches) Accept(*store, agent, sequence);
  return DumpOf(*store);
}

TEST(WithdrawTest, AnyHistoryLeavesTheBitsOfAStoreThatOnlyGotTheSurvivors) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const TempDir dir;
    auto store = MustOpen(ManualOptions(dir.path() / "data"));
    std::map<unsigned, std::uint64_t> last;
    std::set<std::pair<unsigned, std::uint64_t>> alive;
    for (int step = 0; step < 160; ++step) {
      const auto agent = static_cast<unsigned>(random() % 4);
      const std::uint64_t dice = random() % 20;
      if (dice < 10) {
        Accept(*store, agent, ++last[agent]);
        alive.insert({agent, last[agent]});
      } else if (dice < 16 && !alive.empty()) {
        const auto victim =
            *std::next(alive.begin(), static_cast<std::ptrdiff_t>(random() % alive.size()));
        const auto result = Withdraw(*store, victim.first, victim.second);
        ASSERT_TRUE(result.has_value()) << result.error().message;
        ASSERT_EQ(result->kind, WithdrawalKind::kWithdrawn);
        alive.erase(victim);
      } else if (dice == 16) {  // withdrawn before it arrives; then it arrives
        const auto result = Withdraw(*store, agent, ++last[agent]);
        ASSERT_EQ(result.value().kind, WithdrawalKind::kNeverDelivered);
        Accept(*store, agent, last[agent]);
      } else if (dice < 19) {
        ASSERT_TRUE(store->Checkpoint().has_value());
      } else {
        store.reset();
        store = MustOpen(ManualOptions(dir.path() / "data"));
      }
    }
    ASSERT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", alive));
    const auto report = store->Verify();
    ASSERT_TRUE(report.has_value() && report->ok()) << report->first_problem;
    EXPECT_EQ(report->expected.batches, alive.size());
    while (!alive.empty()) {
      ASSERT_TRUE(Withdraw(*store, alive.begin()->first, alive.begin()->second).has_value());
      alive.erase(alive.begin());
    }
    EXPECT_EQ(DumpOf(*store), Dump());
  }
}

TEST(WithdrawTest, ReadsAreTheNewestSumsBeforeDuringAndAfterACheckpoint) {
  const TempDir dir;
  StoreOptions options = ManualOptions(dir.path() / "data");
  const auto reference = MustOpen(ManualOptions(dir.path() / "reference"));
  Accept(*reference, 1, 2);
  Store* observed = nullptr;
  int looks = 0;
  const auto look = [&] {
    for (unsigned number = 0; number < 40; ++number) {
      ASSERT_EQ(observed->Get(TestKey(number)).value(), reference->Get(TestKey(number)).value());
    }
    ++looks;
  };
  options.on_checkpoint = [&](CheckpointStage) { look(); };
  const auto store = MustOpen(options);
  observed = store.get();
  Accept(*reference, 1, 1);
  Accept(*store, 1, 1);
  Accept(*store, 1, 2);
  ASSERT_TRUE(store->Checkpoint().has_value());
  ASSERT_TRUE(Withdraw(*store, 1, 1).has_value());
  ASSERT_TRUE(Withdraw(*reference, 1, 1).has_value());
  look();
  ASSERT_TRUE(store->Checkpoint().has_value());
  look();
  EXPECT_EQ(looks, 6);
}

TEST(WithdrawTest, ARepeatedWithdrawalGetsTheSameAnswerAndTakesNothing) {
  const TempDir dir;
  std::uint32_t rows = 0;
  {
    const auto store = MustOpen(ManualOptions(dir.path() / "data"));
    Accept(*store, 1, 1);
    Accept(*store, 2, 1);
    rows = Withdraw(*store, 1, 1).value().withdrawn_rows;
    EXPECT_GT(rows, 0U);
    EXPECT_EQ(Withdraw(*store, 1, 1).value().kind, WithdrawalKind::kRepeated);
  }
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  const auto again = Withdraw(*store, 1, 1);
  EXPECT_EQ(again.value().kind, WithdrawalKind::kRepeated);
  EXPECT_EQ(again.value().withdrawn_rows, rows);
  EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", {{2, 1}}));
}

TEST(WithdrawTest, AWithdrawnBatchThatComesAgainGetsItsFirstAnswerAndAddsNothing) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  Accept(*store, 1, 1);
  ASSERT_TRUE(Withdraw(*store, 1, 1).has_value());
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  const auto again = store->Accept(batch.View());
  EXPECT_EQ(again.value().answer, batch.answer);
  EXPECT_TRUE(again.value().replay);
  EXPECT_EQ(DumpOf(*store), Dump());
}

TEST(WithdrawTest, ABatchWithdrawnBeforeItCameAddsNothingLaterNotEvenAfterARestart) {
  const TempDir dir;
  TestBatch batch;
  MakeTestBatch(1, 3, batch, nullptr);
  {
    const auto store = MustOpen(ManualOptions(dir.path() / "data"));
    EXPECT_EQ(Withdraw(*store, 1, 3).value().kind, WithdrawalKind::kNeverDelivered);
  }
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  const auto late = store->Accept(batch.View());
  EXPECT_EQ(late.value().answer, "withdrawn");
  EXPECT_TRUE(late.value().replay);
  EXPECT_EQ(Withdraw(*store, 1, 3).value().withdrawn_rows, 0U);
  EXPECT_EQ(DumpOf(*store), Dump());
}

TEST(WithdrawTest, LimitsUndeliveredWithdrawalsPerEpoch) {
  const TempDir dir;
  auto store = MustOpen(ManualOptions(dir.path() / "data"));
  Accept(*store, 1, 1);
  for (std::uint64_t i = 1; i <= kMaxUndelivered; ++i) {
    ASSERT_EQ(Withdraw(*store, 1, 1 + i).value().kind, WithdrawalKind::kNeverDelivered);
  }
  store.reset();
  store = MustOpen(ManualOptions(dir.path() / "data"));
  const std::uint64_t next = kMaxUndelivered + 2;
  EXPECT_EQ(Withdraw(*store, 1, next).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store->healthy());
  // Everything else still works: repetitions, batches that have arrived, other agents.
  EXPECT_EQ(Withdraw(*store, 1, next - 1).value().kind, WithdrawalKind::kRepeated);
  EXPECT_EQ(Withdraw(*store, 2, 1).value().kind, WithdrawalKind::kNeverDelivered);
  Accept(*store, 1, next);
  EXPECT_EQ(Withdraw(*store, 1, next).value().kind, WithdrawalKind::kWithdrawn);
  EXPECT_EQ(Withdraw(*store, 1, 1).value().kind, WithdrawalKind::kWithdrawn);
}

TEST(WithdrawTest, ReturnsTheAnswerWhileItIsKept) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  Accept(*store, 1, 1);
  Accept(*store, 1, 2);
  Accept(*store, 1, 65);
  TestBatch batch;
  for (const std::uint64_t sequence : {1U, 2U}) {
    MakeTestBatch(1, sequence, batch, nullptr);
    Withdrawal withdrawal = batch.Undo();
    withdrawal.rows = [&](const std::optional<std::string>& answer) -> Result<const AcceptedRows*> {
      if (!answer) return Fail(ErrorCode::kNotFound, "no answer");
      EXPECT_EQ(*answer, batch.answer);
      return &batch.rows;
    };
    const auto result = store->Withdraw(withdrawal);
    if (sequence == 2) {
      EXPECT_TRUE(result.has_value());
    } else {
      EXPECT_EQ(result.error().message, "no answer");
    }
  }
  // An agent that proves the rows in another way can still withdraw them.
  EXPECT_EQ(Withdraw(*store, 1, 1).value().kind, WithdrawalKind::kWithdrawn);
  EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", {{1, 65}}));
}

TEST(WithdrawTest, RowsThatTheSumsDoNotHoldAreRefusedAndNothingChanges) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  Accept(*store, 1, 1);
  Accept(*store, 2, 1);
  const Dump before = DumpOf(*store);
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  stats::CostHistogram never;
  for (int i = 0; i < 1000; ++i) never.Add(77);
  batch.rows.Add(TestKey(50), never, Contribution::kFirst);
  const auto refused = store->Withdraw(batch.Undo());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(store->healthy());
  EXPECT_EQ(DumpOf(*store), before);
  EXPECT_EQ(Withdraw(*store, 1, 1).value().kind, WithdrawalKind::kWithdrawn);
}

TEST(WithdrawTest, FromASaturatedRowNothingIsTaken) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  stats::CostHistogram huge;
  huge.SetBucket(
      1,
      {.count = ~std::uint64_t{0}, .sum = ~std::uint64_t{0}, .sum_of_squares = ~std::uint64_t{0}});
  TestBatch batch;
  batch.agent_id = TestAgent(1);
  batch.rows.Add(TestKey(1), huge, Contribution::kNone);
  for (const std::uint64_t sequence : {1U, 2U}) {
    batch.sequence = wire::Sequence(sequence);
    ASSERT_TRUE(store->Accept(batch.View()).has_value());
  }
  const Dump before = DumpOf(*store);
  const auto refused = store->Withdraw(batch.Undo());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(store->healthy());
  EXPECT_EQ(DumpOf(*store), before);
}

TEST(WithdrawTest, ManyAgentsAcceptingAndWithdrawingAtOnceAddUpExactly) {
  const TempDir dir;
  constexpr unsigned kAgents = 6;
  constexpr std::uint64_t kBatches = 40;
  StoreOptions options = ManualOptions(dir.path() / "data");
  options.checkpoint_seconds = 3600;
  options.checkpoint_rows = 25;
  const auto store = MustOpen(options);
  std::set<std::pair<unsigned, std::uint64_t>> alive;
  std::latch start(kAgents);
  std::vector<std::thread> threads;
  for (unsigned agent = 0; agent < kAgents; ++agent) {
    threads.emplace_back([&, agent] {
      start.arrive_and_wait();
      for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
        Accept(*store, agent, sequence);
        if (sequence % 2 != 0) continue;
        EXPECT_TRUE(Withdraw(*store, agent, sequence / 2).has_value());
      }
    });
    for (std::uint64_t i = kBatches / 2 + 1; i <= kBatches; ++i) alive.insert({agent, i});
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", alive));
}

TEST(WithdrawTest, OneBatchWithdrawnByManyAtOnceIsTakenAwayOnce) {
  const TempDir dir;
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  Accept(*store, 1, 1);
  Accept(*store, 2, 1);
  std::atomic<int> taken{0};
  std::latch start(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      if (Withdraw(*store, 1, 1).value().kind == WithdrawalKind::kWithdrawn) ++taken;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", {{2, 1}}));
}

TEST(AgentsTest, EnrolmentsAndRevocationsAreKept) {
  const TempDir dir;
  {
    const auto store = MustOpen(ManualOptions(dir.path() / "data"));
    EXPECT_FALSE(store->IsEnrolled(TestAgent(1), wire::Epoch(7)).value());
    EXPECT_TRUE(store->Enrol(TestAgent(1), wire::Epoch(7)).has_value());
    EXPECT_TRUE(store->Enrol(TestAgent(1), wire::Epoch(7)).has_value());
    EXPECT_TRUE(store->Revoke(TestAgent(2)).has_value());
    EXPECT_TRUE(store->Revoke(TestAgent(2)).has_value());
  }
  const auto store = MustOpen(ManualOptions(dir.path() / "data"));
  EXPECT_TRUE(store->IsEnrolled(TestAgent(1), wire::Epoch(7)).value());
  EXPECT_FALSE(store->IsEnrolled(TestAgent(1), wire::Epoch(8)).value());
  EXPECT_FALSE(store->IsEnrolled(TestAgent(2), wire::Epoch(7)).value());
  EXPECT_THAT(store->RevokedAgents().value(), ::testing::ElementsAre(TestAgent(2)));
  EXPECT_EQ(store->sequence(), 0U);
}

}  // namespace
}  // namespace fieldcost::store
