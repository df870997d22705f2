#include "aggregator/store/probation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "aggregator/store/contributions.h"
#include "aggregator/store/held.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/store.h"
#include "tests/aggregator/store/batches.h"
#include "tests/aggregator/store/probation_model.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using testing::TempDir;

StoreOptions Options(const TempDir& dir, unsigned batches) {
  return {.data_dir = dir.path() / "data", .checkpoint_seconds = 0, .probation_batches = batches};
}

std::unique_ptr<Store> MustOpen(const StoreOptions& options) {
  auto store = Store::Open(options);
  EXPECT_TRUE(store.has_value()) << store.error().message;
  return std::move(*store);
}

Result<AcceptResult> Send(Store& store, unsigned agent, std::uint64_t sequence, bool honest,
                          std::uint64_t epoch = 1) {
  TestBatch batch;
  MakeTestBatch(agent, sequence, batch, nullptr);
  batch.epoch = wire::Epoch(epoch);
  AcceptedBatch view = batch.View();
  view.honest = honest;
  return store.Accept(view);
}

Sums SumsOf(const std::vector<ProbationModel::Batch>& batches) {
  Sums sums;
  TestBatch batch;
  for (const auto& [agent, sequence] : batches) MakeTestBatch(agent, sequence, batch, &sums);
  return sums;
}

std::uint64_t RoomOf(const TestBatch& batch) {
  return HeldRoom(HeldKey(LedgerHeadKey(batch.agent_id, batch.epoch.value()), 1),
                  HeldBatch::Encode(batch.View()))
      .value();
}

// Sends a batch with one row and about `bytes` bytes.
Result<AcceptResult> SendSized(Store& store, unsigned agent, std::uint64_t sequence,
                               std::size_t bytes, bool dishonest, bool may_be_held = true) {
  TestBatch batch;
  MakeTestBatch(agent, sequence, batch, nullptr);
  batch.rows.Clear();
  batch.refused.clear();
  stats::CostHistogram histogram;
  histogram.Add(agent);
  batch.rows.Add(TestKey(agent), histogram, Contribution::kNone);
  batch.body = std::string(bytes, 'b');  // not decoded until it is released
  AcceptedBatch view = batch.View();
  view.honest = !dishonest;
  view.dishonest = dishonest;
  view.may_be_held = may_be_held;
  return store.Accept(view);
}

TEST(ProbationTest, EvictsDishonestAgentsFirstThenTheLargest) {
  const TempDir dir;
  StoreOptions options = Options(dir, 3);
  options.held_bytes = 100 * kKiB;
  auto store = MustOpen(options);
  ASSERT_TRUE(SendSized(*store, 1, 1, 40'000, false)->held);
  ASSERT_TRUE(SendSized(*store, 2, 1, 10'000, true)->held);
  ASSERT_TRUE(SendSized(*store, 2, 2, 100, false)->held) << "it was dishonest and stays so";
  ASSERT_TRUE(SendSized(*store, 3, 1, 20'000, true)->held);
  ASSERT_TRUE(SendSized(*store, 4, 1, 20'000, false)->held);
  EXPECT_EQ(SendSized(*store, 5, 1, 30'000, true).error().code, ErrorCode::kUnavailable)
      << "a dishonest agent takes no room from agents that are no worse";
  EXPECT_EQ(store->Gauges().evicted_batches, 0U);
  store.reset();
  store = MustOpen(options);  // all of this state must be on disk
  const auto third = SendSized(*store, 5, 1, 10'000, false);
  ASSERT_TRUE(third.has_value()) << third.error().message;
  EXPECT_EQ(third->evicted_batches, 1U) << "the larger of the dishonest";
  const auto both = SendSized(*store, 6, 1, 30'000, false);
  ASSERT_TRUE(both.has_value()) << both.error().message;
  EXPECT_EQ(both->evicted_batches, 3U) << "all of the other, and the largest";
  EXPECT_EQ(SendSized(*store, 7, 1, 60'000, false).error().code, ErrorCode::kUnavailable)
      << "no agent has more";
  EXPECT_EQ(store->Gauges().held_batches, 3U);
  EXPECT_EQ(store->Gauges().evicted_batches, 4U);
  for (const unsigned agent : {1U, 2U, 3U, 4U}) {
    TestBatch batch;
    MakeTestBatch(agent, 1, batch, nullptr);
    EXPECT_EQ(store->Withdraw(batch.Undo())->kind,
              agent == 4 ? WithdrawalKind::kWithdrawn : WithdrawalKind::kRepeated)
        << agent;
    EXPECT_TRUE(SendSized(*store, agent, 1, 10, false)->replay);
  }
}

TEST(ProbationTest, AnAgentHasAShareAndAnAddressMayHaveNoneLeft) {
  const TempDir dir;
  StoreOptions options = Options(dir, 3);
  options.held_bytes_per_agent = 20'000;
  auto store = MustOpen(options);
  ASSERT_TRUE(SendSized(*store, 1, 1, 10'000, false)->held);
  const auto more = SendSized(*store, 1, 2, 10'000, false);
  EXPECT_EQ(more.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(more.error().message, ::testing::HasSubstr("this agent"));
  ASSERT_TRUE(SendSized(*store, 1, 2, 5'000, false)->held);
  EXPECT_EQ(SendSized(*store, 2, 1, 10, false, false).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store->Gauges().held_batches, 2U);
}

// Batches are held and evicted concurrently.
TEST(ProbationTest, CountsHeldBatchesUnderConcurrency) {
  const TempDir dir;
  StoreOptions options = Options(dir, 3);
  options.held_bytes = 40'000;
  auto store = MustOpen(options);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> evicted{0};
  for (unsigned thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned i = 0; i < 40; ++i) {
        const unsigned agent = 1 + thread * 20 + i % 20;
        const auto result = SendSized(*store, agent, 1 + i / 20, 5'000 - 100 * i, i % 3 == 0);
        if (!result) {
          EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
          continue;
        }
        held += result->held ? 1 : 0;
        evicted += result->evicted_batches;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StoreGauges before = store->Gauges();
  EXPECT_EQ(before.held_batches, held - evicted);
  EXPECT_EQ(before.evicted_batches, evicted);
  EXPECT_GT(evicted, 0U);
  EXPECT_LE(before.held_bytes, options.held_bytes);
  store.reset();
  const StoreGauges after = MustOpen(options)->Gauges();
  EXPECT_EQ(after.held_batches, before.held_batches);
  EXPECT_EQ(after.held_bytes, before.held_bytes);
  EXPECT_EQ(after.honest_held_bytes, before.honest_held_bytes);
}

TEST(ProbationTest, OnlyTheDecisiveHonestBatchReleasesAllEarlierOnes) {
  const TempDir dir;
  auto store = MustOpen(Options(dir, 3));
  for (const auto& [sequence, honest] : {std::pair{1, true}, {2, false}, {3, true}, {4, false}}) {
    const auto result = Send(*store, 1, static_cast<std::uint64_t>(sequence), honest);
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->held);
    EXPECT_EQ(store->sequence(), 0U);
  }
  EXPECT_TRUE(AllRows(*store).empty());
  EXPECT_EQ(store->Gauges().held_batches, 4U);
  const auto last = Send(*store, 1, 5, true);
  ASSERT_TRUE(last.has_value());
  EXPECT_FALSE(last->held);
  EXPECT_EQ(last->released_batches, 4U);
  EXPECT_EQ(AllRows(*store), SumsOf({{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}}));
  EXPECT_EQ(store->sequence(), 5U);
  EXPECT_EQ(store->Gauges().held_batches, 0U);
  EXPECT_EQ(store->Gauges().held_bytes, 0U);
  EXPECT_FALSE(Send(*store, 1, 6, false)->held) << "probation does not begin again";
  EXPECT_TRUE(Send(*store, 2, 1, true)->held) << "every agent has its own";
  EXPECT_TRUE(Send(*store, 1, 1, true, 2)->held) << "and every epoch";
}

TEST(ProbationTest, DropsUnreleasableBatchesAsIfWithdrawn) {
  const TempDir dir;
  auto store = MustOpen(Options(dir, 3));
  for (unsigned agent = 1; agent <= 40; ++agent) {
    ASSERT_TRUE(Send(*store, agent, 1, true, 6 + agent % 3)->held);
  }
  ASSERT_TRUE(Send(*store, 3, 1, true, 7)->held);  // the same agent in another epoch
  ASSERT_EQ(store->DropHeldBefore(wire::Epoch(7)).value(), 13U);
  EXPECT_EQ(store->Gauges().held_batches, 28U);
  EXPECT_EQ(store->DropHeldBefore(wire::Epoch(7)).value(), 0U);
  TestBatch batch;
  MakeTestBatch(3, 1, batch, nullptr);
  batch.epoch = wire::Epoch(6);
  const auto gone = store->Withdraw(batch.Undo());
  EXPECT_EQ(gone->kind, WithdrawalKind::kRepeated);
  EXPECT_EQ(gone->withdrawn_rows, batch.rows.row_count());
  EXPECT_TRUE(Send(*store, 3, 1, true, 6)->replay);
  batch.epoch = wire::Epoch(7);
  EXPECT_EQ(store->Withdraw(batch.Undo())->kind, WithdrawalKind::kWithdrawn);
  EXPECT_TRUE(AllRows(*store).empty());
  EXPECT_EQ(store->DropHeldBefore(wire::Epoch(9)).value(), 27U);
  EXPECT_EQ(store->Gauges().held_batches, 0U);
  EXPECT_EQ(store->Gauges().held_bytes, 0U);
  EXPECT_TRUE(store->Verify()->ok());
}

TEST(ProbationTest, SurvivesARestart) {
  const TempDir dir;
  ASSERT_TRUE(Send(*MustOpen(Options(dir, 2)), 1, 1, true)->held);
  auto store = MustOpen(Options(dir, 2));
  EXPECT_EQ(store->Gauges().held_batches, 1U);
  EXPECT_EQ(Send(*store, 1, 2, true)->released_batches, 1U);
  EXPECT_EQ(AllRows(*store), SumsOf({{1, 1}, {1, 2}}));
}

TEST(ProbationTest, NextBatchReleasesHeldOnesOnceSwitchedOff) {
  const TempDir dir;
  ASSERT_TRUE(Send(*MustOpen(Options(dir, 3)), 1, 1, false)->held);
  auto store = MustOpen(Options(dir, 0));
  EXPECT_FALSE(Send(*store, 2, 1, false)->held);
  EXPECT_EQ(Send(*store, 1, 2, false)->released_batches, 1U);
  EXPECT_EQ(AllRows(*store), SumsOf({{1, 1}, {1, 2}, {2, 1}}));
}

TEST(ProbationTest, EnforcesTheLimitAndRefusedBatchesMayBeResent) {
  const TempDir dir;
  StoreOptions options = Options(dir, 2);
  TestBatch batch;
  for (const unsigned agent : {1U, 2U}) {  // each would fit alone
    MakeTestBatch(agent, 1, batch, nullptr);
    options.held_bytes = std::max(agent == 1 ? 0 : options.held_bytes, RoomOf(batch));
  }
  auto store = MustOpen(options);
  ASSERT_TRUE(Send(*store, 1, 1, true)->held);
  const std::uint64_t held_bytes = store->Gauges().held_bytes;
  EXPECT_EQ(Send(*store, 2, 1, true).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store->Gauges().held_bytes, held_bytes);
  EXPECT_EQ(store->Gauges().held_batches, 1U);
  EXPECT_TRUE(store->healthy());
  EXPECT_EQ(Send(*store, 1, 2, true)->released_batches, 1U) << "released batches need no room";
  const auto again = Send(*store, 2, 1, true);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE(again->replay);
  EXPECT_TRUE(again->held);
}

TEST(ProbationTest, AnAgentThatIsNeverHonestHasItsOwnLimit) {
  const TempDir dir;
  auto store = MustOpen(Options(dir, 1));
  std::uint64_t sequence = 0;
  while (Send(*store, 1, ++sequence, false)) ASSERT_LE(sequence, 1000U);
  EXPECT_EQ(sequence, kMaxHeldBeyondProbation + 2);
  EXPECT_EQ(Send(*store, 1, sequence, true)->released_batches, sequence - 1);
}

TEST(ProbationTest, ARevokedAgentsHeldBatchesAreGoneAndMayBeWithdrawn) {
  const TempDir dir;
  auto store = MustOpen(Options(dir, 2));
  ASSERT_TRUE(Send(*store, 1, 1, true)->held);
  ASSERT_TRUE(Send(*store, 2, 1, true)->held);
  ASSERT_TRUE(store->Revoke(TestAgent(1)).has_value());
  EXPECT_EQ(store->Gauges().held_batches, 1U);
  EXPECT_EQ(Send(*store, 1, 2, true).error().code, ErrorCode::kPermissionDenied);
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  const auto result = store->Withdraw(batch.Undo());
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->kind, WithdrawalKind::kRepeated);
  EXPECT_EQ(result->withdrawn_rows, batch.rows.row_count());
  EXPECT_EQ(Send(*store, 2, 2, true)->released_batches, 1U);
}

TEST(ProbationTest, HeldBatchesExpireWithTheirEpochAndWeeks) {
  const TempDir dir;
  auto store = MustOpen(Options(dir, 2));
  ASSERT_TRUE(Send(*store, 1, 1, true, 5)->held);
  ASSERT_TRUE(Send(*store, 1, 1, true, 7)->held);
  const auto report = store->Expire(2901, wire::Epoch(6));  // half of the rows are of week 2900
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->held_batches, 1U);
  EXPECT_EQ(store->Gauges().held_batches, 1U);
  ASSERT_EQ(Send(*store, 1, 2, true, 7)->released_batches, 1U);
  for (const auto& [key, row] : AllRows(*store)) {
    EXPECT_TRUE(key.week >= 2901 || SumsOf({{1, 2}}).at(key) == row) << stats::DisplayName(key.api);
  }
  EXPECT_EQ(store->Verify()->expected.batches, 2U);
}

TEST(ProbationTest, ARecordIsReadBackAndNothingElseIs) {
  Probation probation{.honest_batches = 300,
                      .held_batches = 2,
                      .began = std::chrono::sys_days(std::chrono::year(2026) / 11 / 27),
                      .released = true};
  EXPECT_EQ(probation.Encode(), std::string("\x01\xac\x02\x02\x80\x90\xa3\xd8\x06\x01"));
  EXPECT_EQ(Probation::Decode(probation.Encode()).value(), probation);
  probation.dishonest = true;
  EXPECT_EQ(probation.Encode(), std::string("\x01\xac\x02\x02\x80\x90\xa3\xd8\x06\x03"));
  EXPECT_EQ(Probation::Decode(probation.Encode()).value(), probation);
  for (const std::string bytes :
       {"", "\x01", "\x02\x01\x01\x01\x01", "\x01\x01\x01\x01", "\x01\x01\x01\x01\x04",
        "\x01\x01\x01\x01\x01\x01", "\x01\x01\x01\x80\x80\x80\x80\x08\x01"}) {
    EXPECT_EQ(Probation::Decode(bytes).error().code, ErrorCode::kCorrupt);
  }
}

// The age counts from the epoch's first batch, across restarts. Neither enough batches nor enough
// age alone ends a probation.
TEST(ProbationTest, AnAgentCountsOnlyOnceItIsOldEnough) {
  const TempDir dir;
  StoreOptions options = Options(dir, 2);
  options.probation_age = std::chrono::hours(24);
  auto store = MustOpen(options);
  const std::chrono::sys_seconds begin = std::chrono::sys_days(std::chrono::year(2026) / 11 / 27);
  const auto send_at = [&](unsigned agent, std::uint64_t sequence, std::chrono::seconds after) {
    TestBatch batch;
    MakeTestBatch(agent, sequence, batch, nullptr);
    AcceptedBatch view = batch.View();
    view.received_at = begin + after;
    return store->Accept(view);
  };
  using std::chrono::hours;
  using std::chrono::seconds;
  EXPECT_TRUE(send_at(1, 1, hours(0))->held);
  EXPECT_TRUE(send_at(1, 2, seconds(1))->held);
  EXPECT_TRUE(send_at(1, 3, hours(24) - seconds(1))->held);
  EXPECT_TRUE(send_at(1, 4, -hours(48))->held) << "the clock was set back";
  store.reset();
  store = MustOpen(options);
  EXPECT_EQ(send_at(1, 5, hours(24))->released_batches, 4U);
  EXPECT_FALSE(send_at(1, 6, hours(1))->held) << "released for the whole epoch";
  EXPECT_TRUE(send_at(2, 1, hours(0))->held);
  EXPECT_EQ(send_at(2, 2, hours(30))->released_batches, 1U);
  EXPECT_TRUE(send_at(3, 1, hours(0))->held);
  options.probation_batches = 0;
  store.reset();
  store = MustOpen(options);
  EXPECT_EQ(send_at(3, 2, seconds(1))->released_batches, 1U) << "there is no probation any more";
  EXPECT_TRUE(
      AllRows(*store) ==
      SumsOf({{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {2, 1}, {2, 2}, {3, 1}, {3, 2}}));
}

TEST(HeldBatchTest, ABatchIsKeptAsItCameWithAHead) {
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  batch.body = "body";
  batch.refused = {1};
  const std::vector<WeekContributions> contributions = {{.week = 300, .hashes = {7, 8}}};
  AcceptedBatch view = batch.View();
  view.contributions = contributions;
  const std::string bytes = HeldBatch::Encode(view);
  const std::string rows(1, static_cast<char>(batch.rows.row_count()));
  EXPECT_EQ(bytes, "\x01" + rows + "\x01\xac\x02\x02" + "\x03\x01\x01" + "body");
  const auto held = HeldBatch::Decode(bytes);
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(held->accepted_rows, batch.rows.row_count());
  EXPECT_THAT(held->contributions, ::testing::ElementsAre(std::pair(300U, 2U)));
  EXPECT_EQ(held->record,
            "\x03\x01\x01"
            "body");
  EXPECT_EQ(HeldRoom("key", bytes).value(), 3 + bytes.size() + 1024 + 2 * 8);
  for (const std::size_t size : {0U, 1U, 3U, 4U, 6U}) {
    EXPECT_EQ(HeldBatch::Decode(bytes.substr(0, size)).error().code, ErrorCode::kCorrupt) << size;
  }
  EXPECT_EQ(HeldBatch::Decode("\x02" + bytes.substr(1)).error().code, ErrorCode::kCorrupt);
}

TEST(ContributionsTest, AListIsReadBackAndNothingElseIs) {
  const std::string bytes("\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x01\x02", 17);
  EXPECT_EQ(EncodeContributions({1, 258}), bytes);
  std::vector<std::uint64_t> hashes;
  ASSERT_TRUE(DecodeContributions(bytes, hashes).has_value());
  EXPECT_THAT(hashes, ::testing::ElementsAre(1U, 258U));
  const std::string same = bytes.substr(0, 9) + bytes.substr(1, 8);
  for (const std::string& bad :
       {std::string(), bytes.substr(0, 16), "\x02" + bytes.substr(1), same}) {
    hashes.clear();
    EXPECT_EQ(DecodeContributions(bad, hashes).error().code, ErrorCode::kCorrupt);
  }
}

TEST(ProbationTest, AnyHistoryGivesWhatTheModelGives) {
  const TempDir dir;
  std::size_t evicted = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StoreOptions options = ProbationModel::Options(dir.path() / std::to_string(seed));
    auto store = MustOpen(options);
    ProbationModel model(seed);
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const ProbationModel::Operation operation = model.Next();
      ASSERT_EQ(model.Do(operation, *store, false), "");
      model.Apply(operation);
      if (step % 40 == 39) {
        store.reset();
        store = MustOpen(options);
      }
      if (step % 15 == 14) {
        ASSERT_EQ(model.Compare(*store), "");
      }
    }
    EXPECT_GT(model.live(), 0U);
    EXPECT_GT(model.gone(), 0U);
    evicted += model.evicted();
    refused += model.refused();
  }
  EXPECT_GT(evicted, 20U);
  EXPECT_GT(refused, 20U);
}

TEST(ProbationTest, AKillAtAnyMomentLosesAndDoublesNothing) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const TempDir dir;
  const StoreOptions options = ProbationModel::Options(dir.path() / "data");
  ProbationModel model(seed);
  std::uint64_t next = 0;
  for (int cycle = 0; cycle < 12; ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    testing::ProcessOptions command;
    command.arguments = {FIELDCOST_PROBATION_WRITER, options.data_dir.string(),
                         std::to_string(seed), std::to_string(next)};
    testing::BackgroundProcess writer(command);
    for (std::uint64_t left = random() % 25; left > 0; --left) {
      ASSERT_TRUE(writer.WaitForLine("done "));
    }
    writer.Signal(SIGKILL);
    const testing::ProcessResult result = writer.Wait();
    ASSERT_EQ(result.signal, SIGKILL) << result.output;
    const std::string whole_lines = result.output.substr(0, result.output.rfind('\n') + 1);
    for (std::size_t at = 0; (at = whole_lines.find("done ", at)) != std::string::npos; ++at) {
      model.Apply(model.Next());
      ++next;
    }
    // The killed process may have performed one more operation.
    auto store = MustOpen(options);
    const ProbationModel::Operation operation = model.Next();
    ASSERT_EQ(model.Do(operation, *store, true), "");
    model.Apply(operation);
    ++next;
    ASSERT_EQ(model.Compare(*store), "");
  }
}

}  // namespace
}  // namespace fieldcost::store
