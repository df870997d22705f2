// Kept batches: how long they are kept, and removing all batches of an agent with their help.
#include "aggregator/store/kept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "aggregator/store/database.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/store.h"
#include "aggregator/store/store_parts.h"
#include "common/base/units.h"
#include "common/wire/epoch.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using testing::TempDir;

// Agent, epoch, sequence.
using Name = std::tuple<unsigned, std::uint64_t, std::uint64_t>;

StoreOptions Options(const std::filesystem::path& directory, unsigned probation_batches = 0) {
  return {.data_dir = directory, .checkpoint_seconds = 0, .probation_batches = probation_batches};
}

std::unique_ptr<Store> MustOpen(const StoreOptions& options) {
  auto store = Store::Open(options);
  EXPECT_TRUE(store.has_value()) << store.error().message;
  return std::move(*store);
}

TestBatch BatchOf(const Name& name) {
  TestBatch batch;
  const auto& [agent, epoch, sequence] = name;
  MakeTestBatch(agent, sequence + 1000 * epoch, batch, nullptr);
  batch.epoch = wire::Epoch(epoch);
  batch.sequence = wire::Sequence(sequence);
  return batch;
}

void Accept(Store& store, const Name& name) {
  const TestBatch batch = BatchOf(name);
  const auto result = store.Accept(batch.View());
  ASSERT_TRUE(result.has_value()) << result.error().message;
}

Dump DumpOfOnly(const std::filesystem::path& directory, const std::set<Name>& names) {
  const auto store = MustOpen(Options(directory));
  for (const Name& name : names) Accept(*store, name);
  return DumpOf(*store);
}

int FilesWith(std::string_view bytes, const std::filesystem::path& data_dir) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir / "store")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string contents(std::istreambuf_iterator<char>(file), {});
    count += contents.find(bytes) == std::string::npos ? 0 : 1;
  }
  return count;
}

// Returns a batch with a body, and in `part` bytes of it that occur nowhere else.
TestBatch BatchWithBody(unsigned agent, std::uint64_t epoch, std::string& part) {
  for (std::uint64_t sequence = 1;; ++sequence) {
    TestBatch batch = BatchOf({agent, epoch, sequence});
    if (batch.body.size() < 128) continue;
    part = batch.body.substr(batch.body.size() / 2, 64);
    return batch;
  }
}

TEST(KeptTest, ABatchIsKeptUntilItIsWithdrawnAndThenNothingOfItIsLeft) {
  const TempDir dir;
  const StoreOptions options = Options(dir.path() / "data");
  auto store = MustOpen(options);
  std::string part;
  const TestBatch batch = BatchWithBody(1, 7, part);
  ASSERT_TRUE(store->Accept(batch.View()).has_value());
  ASSERT_TRUE(store->Compact().has_value());
  EXPECT_EQ(store->KeptRows(batch.agent_id, batch.epoch, batch.sequence).value(),
            batch.rows.bytes());
  store.reset();  // the engine removes files in the background
  EXPECT_EQ(FilesWith(part, options.data_dir), 1);
  EXPECT_EQ(FilesWith(batch.agent_id, options.data_dir), 1) << "the ledger has it";
  store = MustOpen(options);
  ASSERT_EQ(store->Withdraw(batch.Undo())->kind, WithdrawalKind::kWithdrawn);
  EXPECT_FALSE(store->KeptRows(batch.agent_id, batch.epoch, batch.sequence).value().has_value());
  ASSERT_TRUE(store->Compact().has_value());
  EXPECT_EQ(store->Verify()->kept_batches, 0U);
  store.reset();
  EXPECT_EQ(FilesWith(part, options.data_dir), 0);
}

TEST(KeptTest, DeletesKeptBatchesOfClosedEpochsButNotTheirSums) {
  const TempDir dir;
  const StoreOptions options = Options(dir.path() / "data");
  auto store = MustOpen(options);
  std::string part;
  std::string later_part;
  const TestBatch batch = BatchWithBody(1, 7, part);
  const TestBatch later = BatchWithBody(1, 8, later_part);
  ASSERT_TRUE(store->Accept(batch.View()).has_value());
  ASSERT_TRUE(store->Accept(later.View()).has_value());
  const Dump before = DumpOf(*store);
  EXPECT_EQ(store->ForgetBatchesBefore(wire::Epoch(8)).value(), 1U);
  EXPECT_EQ(store->ForgetBatchesBefore(wire::Epoch(8)).value(), 0U);
  EXPECT_EQ(store->ForgetBatchesBefore(wire::Epoch(7)).value(), 0U) << "it never goes back";
  EXPECT_EQ(DumpOf(*store), before);
  ASSERT_TRUE(store->Compact().has_value());
  EXPECT_EQ(store->Verify()->kept_batches, 1U);
  store.reset();
  EXPECT_EQ(FilesWith(part, options.data_dir), 0);
  EXPECT_EQ(FilesWith(later_part, options.data_dir), 1);
  store = MustOpen(options);
  // A late batch of that epoch is added to the sums but not kept.
  const TestBatch late = BatchOf({1, 7, 60});
  ASSERT_TRUE(store->Accept(late.View()).has_value());
  const auto batches = store->BatchesOf(TestAgent(1));
  EXPECT_THAT(batches->kept, ::testing::ElementsAre(std::pair(later.epoch, later.sequence)));
  EXPECT_EQ(batches->not_kept, 2U);
  EXPECT_EQ(store->RemoveAll(TestAgent(1))->not_kept, 2U);
  // Its owner can still withdraw it.
  EXPECT_EQ(store->Withdraw(late.Undo())->kind, WithdrawalKind::kWithdrawn);
  EXPECT_EQ(store->Withdraw(batch.Undo())->kind, WithdrawalKind::kWithdrawn);
  EXPECT_EQ(store->Withdraw(later.Undo())->kind, WithdrawalKind::kRepeated);
  EXPECT_TRUE(DumpOf(*store).rows.empty());
  EXPECT_TRUE(store->Verify()->ok());
  // The kept batch is removed together with its ledger entries.
  EXPECT_TRUE(store->Expire(0, wire::Epoch(9)).has_value());
  EXPECT_EQ(store->Verify()->kept_batches, 0U);
}

TEST(KeptTest, ExpiryForgetsBatchesWithTheirLedger) {
  const TempDir dir;
  auto store = MustOpen(Options(dir.path() / "data"));
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    Accept(*store, {1, 5 + sequence % 3, sequence});
  }
  ASSERT_TRUE(store->Expire(0, wire::Epoch(6)).has_value());
  const auto report = store->Verify();
  EXPECT_TRUE(report->ok()) << report->first_problem;
  EXPECT_EQ(report->kept_batches, 14U);
}

// Compares a random history after removing one agent with the same history without that agent.
TEST(KeptTest, WithoutAnAgentEveryBitIsThatOfAHistoryWithoutIt) {
  const TempDir dir;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const StoreOptions options = Options(dir.path() / std::to_string(seed), seed % 2 == 0 ? 3 : 0);
    auto store = MustOpen(options);
    std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> last;
    std::set<Name> live;
    std::set<Name> gone;
    for (int step = 0; step < 120; ++step) {
      const unsigned agent = static_cast<unsigned>(random() % 4);
      const std::uint64_t epoch = 7 + random() % 2;
      const std::uint64_t dice = random() % 20;
      std::uint64_t& newest = last[{agent, epoch}];
      if (dice < 14) {
        const Name name{agent, epoch, ++newest};
        Accept(*store, name);
        live.insert(name);
      } else if (dice < 17 && newest != 0) {
        const Name name{agent, epoch, 1 + random() % newest};
        ASSERT_TRUE(store->Withdraw(BatchOf(name).Undo()).has_value());
        live.erase(name);
        gone.insert(name);
      } else if (dice < 18) {
        ASSERT_TRUE(store->Checkpoint().has_value());
      } else {
        store.reset();
        store = MustOpen(options);
      }
    }
    for (auto& [name, newest] : last) {
      // Ends every agent's probation.
      for (int i = 0; i < 3; ++i) {
        const Name more{name.first, name.second, ++newest};
        Accept(*store, more);
        live.insert(more);
      }
    }
    const unsigned agent = static_cast<unsigned>(random() % 4);
    std::set<Name> rest = live;
    std::erase_if(rest, [&](const Name& name) { return std::get<0>(name) == agent; });
    ASSERT_TRUE(store->Revoke(TestAgent(agent)).has_value());
    const auto report = store->RemoveAll(TestAgent(agent));
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->batches, live.size() - rest.size());
    EXPECT_EQ(report->not_kept, 0U);
    EXPECT_EQ(report->not_taken, 0U);
    if (seed > 3) {
      store.reset();
      store = MustOpen(options);
    }
    EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / (std::to_string(seed) + ".reference"), rest));
    const auto check = store->Verify();
    EXPECT_TRUE(check->ok()) << check->first_problem;
    EXPECT_EQ(check->kept_batches, rest.size());
    EXPECT_EQ(store->RemoveAll(TestAgent(agent))->batches, 0U);
    // To its owner, all of it counts as withdrawn.
    for (const Name& name : live) {
      if (std::get<0>(name) != agent) continue;
      const TestBatch batch = BatchOf(name);
      const auto again = store->Withdraw(batch.Undo());
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(again->kind, WithdrawalKind::kRepeated);
      EXPECT_EQ(again->withdrawn_rows, batch.rows.row_count());
    }
  }
}

TEST(KeptTest, ContinuesAnInterruptedWithdrawalOfAnAgent) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const TempDir dir;
  const StoreOptions options = Options(dir.path() / "data");
  std::set<Name> rest;
  {
    const auto store = MustOpen(options);
    for (std::uint64_t sequence = 1; sequence <= 40; ++sequence) {
      for (unsigned agent = 1; agent <= 2; ++agent) {
        Accept(*store, {agent, 7, sequence});
        if (agent == 1) rest.insert({agent, 7, sequence});
      }
      if (sequence == 20) {
        ASSERT_TRUE(store->Checkpoint().has_value());
      }
    }
  }
  int rounds = 0;
  for (bool done = false; !done; ++rounds) {
    ASSERT_LT(rounds, 60);
    testing::ProcessOptions command;
    command.arguments = {FIELDCOST_STORE_WRITER, options.data_dir.string(), "remove", "2"};
    testing::BackgroundProcess writer(command);
    for (std::uint64_t left = 1 + random() % 8; left > 0 && !done; --left) {
      std::string line;
      ASSERT_TRUE(writer.WaitForLine("at ", &line));
      done = line.find("end") != std::string::npos;
    }
    writer.Signal(SIGKILL);
    writer.Wait();
    const auto store = MustOpen(options);
    const auto report = store->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok()) << report->first_problem;
  }
  EXPECT_GT(rounds, 1);
  const auto store = MustOpen(options);
  EXPECT_EQ(DumpOf(*store), DumpOfOnly(dir.path() / "reference", rest));
  EXPECT_EQ(store->BatchesOf(TestAgent(2))->kept.size(), 0U);
}

TEST(KeptTest, PreviewMatchesTheChange) {
  const TempDir dir;
  auto store = MustOpen(Options(dir.path() / "data"));
  for (unsigned agent = 1; agent <= 3; ++agent) {
    for (std::uint64_t sequence = 1; sequence <= 6; ++sequence)
      Accept(*store, {agent, 7, sequence});
  }
  const Dump before = DumpOf(*store);
  // Counts the pairs of API and metric that reach the threshold within a quarter.
  const auto below = [](const Dump& dump, std::uint64_t threshold) {
    std::map<std::pair<stats::ApiKey, stats::Metric>, std::map<std::uint32_t, std::uint64_t>>
        quarters;
    for (const auto& [key, row] : dump.rows) {
      quarters[{key.api, key.metric}][wire::FirstWeekOfQuarter(key.week)] +=
          row.scalars.contributions;
    }
    std::set<std::pair<stats::ApiKey, stats::Metric>> reached;
    for (const auto& [name, counts] : quarters) {
      for (const auto& [quarter, count] : counts) {
        if (count >= threshold) reached.insert(name);
      }
    }
    return reached.size();
  };
  const auto calls = [](const Dump& dump, const stats::ApiKey& api) {
    stats::Uint128 sum = 0;
    for (const auto& [key, row] : dump.rows) {
      if (key.api == api) sum += row.ToHistogram().count();
    }
    return static_cast<std::uint64_t>(sum);
  };
  constexpr std::uint32_t kThreshold = 4;
  const auto effect = store->EffectOfRemoving(TestAgent(2), kThreshold);
  ASSERT_TRUE(effect.has_value()) << effect.error().message;
  EXPECT_EQ(DumpOf(*store), before) << "nothing has changed";
  ASSERT_TRUE(store->RemoveAll(TestAgent(2)).has_value());
  const Dump after = DumpOf(*store);
  EXPECT_EQ(effect->batches, 6U);
  EXPECT_EQ(effect->calls, static_cast<std::uint64_t>(before.totals.calls - after.totals.calls));
  EXPECT_EQ(effect->contributions, before.totals.contributions - after.totals.contributions);
  EXPECT_EQ(effect->below_threshold, below(before, kThreshold) - below(after, kThreshold));
  EXPECT_GT(effect->below_threshold, 0U);
  ASSERT_EQ(effect->most_changed.size(), kMaxShownChanges);
  for (const ApiChange& change : effect->most_changed) {
    EXPECT_EQ(change.calls_before, calls(before, change.api));
    EXPECT_EQ(change.calls_after, calls(after, change.api));
  }
}

TEST(KeptTest, VerifyFindsWhatTheLedgerDoesNotKnow) {
  const TempDir dir;
  const StoreOptions options = Options(dir.path() / "data");
  Accept(*MustOpen(options), {1, 7, 1});
  EXPECT_TRUE(MustOpen(options)->Verify()->ok());
  {
    auto database = Database::Open({.directory = options.data_dir / "store",
                                    .write_buffer_bytes = kMiB,
                                    .block_cache_bytes = kMiB});
    ASSERT_TRUE(database.has_value());
    Database::WriteSet changes(**database);
    changes.Delete(Table::kLedger, KeptKey(LedgerHeadKey(TestAgent(1), 7), 1));
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  EXPECT_THAT(MustOpen(options)->Verify()->first_problem, ::testing::HasSubstr("are kept"));
}

TEST(KeptTest, AgentsAreFoundEachOnce) {
  const TempDir dir;
  const auto store = MustOpen(Options(dir.path() / "data"));
  for (unsigned agent : {3U, 255U, 7U}) {
    for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
      Accept(*store, {agent, 7, sequence});
  }
  std::vector<std::string> agents;
  ASSERT_TRUE(store->ForEachAgent([&](std::string_view agent) -> Status {
    agents.emplace_back(agent);
    return {};
  }));
  EXPECT_THAT(agents, ::testing::ElementsAre(TestAgent(3), TestAgent(7), TestAgent(255)));
}

TEST(KeptTest, KeysAreThoseOfTheReadme) {
  const std::string head_key = LedgerHeadKey(std::string(32, 'a'), 7);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  EXPECT_EQ(KeptKey(head_key, 3), head_key + std::string("\0\0\0\0\0\0\0\x03k", 9));
  EXPECT_TRUE(IsKeptKey(KeptKey(head_key, 3), first));
  EXPECT_EQ(first, 3U);
  EXPECT_FALSE(IsKeptKey(TombstoneKey(head_key, 3), first));
  EXPECT_FALSE(IsKeptKey(AnswerKey(head_key, 3), first));
  EXPECT_EQ(RemovalKey(300, 2), std::string("\0\0\0\0\0\0\x01\x2c\0\0\0\0\0\0\0\x02", 16));
  EXPECT_TRUE(IsRemovalKey(RemovalKey(300, 2), first, second));
  EXPECT_EQ(first, 300U);
  EXPECT_EQ(second, 2U);
  EXPECT_FALSE(IsRemovalKey(NumberKey(300), first, second));
}

}  // namespace
}  // namespace fieldcost::store
