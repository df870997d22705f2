// Stores as earlier versions left them. The oldest, from before withdrawals (only version 1 records
// in the inbox, no tombstones, no enrolments), is built by hand from golden bytes; golden_v2/ was
// written by the last program before agent weights, retention and probation, and killed with
// batches in its inbox; golden_v3/ likewise by the last one before sizes of contributions, with
// batches that are held, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <random>

#include "aggregator/store/database.h"
#include "aggregator/store/store.h"
#include "common/base/byte_order.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

// The line "<name> <hex>" of a golden file.
std::string GoldenBytes(const std::string& file, const std::string& name) {
  const auto text = ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / file, 64 * kKiB);
  EXPECT_TRUE(text.has_value());
  const std::size_t at = text->find(name + ' ') + name.size() + 1;
  const auto bytes = HexDecode(text->substr(at, text->find('\n', at) - at));
  EXPECT_TRUE(bytes.has_value());
  return *bytes;
}

std::string Number(std::uint64_t value) {
  std::string key;
  AppendBigEndian64(value, key);
  return key;
}

TEST(UpgradeTest, AStoreFromBeforeWithdrawalsOpensAndLetsItsBatchesBeWithdrawn) {
  const testing::TempDir dir;
  const std::filesystem::path data = dir.path() / "data";
  const std::string row_key = GoldenBytes("row_v1.golden", "key");
  const std::string row_value = GoldenBytes("row_v1.golden", "value");
  // Wall times 3, 3, 7, no scalars: the second batch, which no checkpoint has covered.
  const std::string plain_value = *HexDecode("0100020202061203010731");
  const std::string record = '\x01' + std::string(1, '\0') + static_cast<char>(row_key.size()) +
                             row_key + static_cast<char>(plain_value.size()) + plain_value;
  const std::string agent = TestAgent(1) + Number(1);
  ASSERT_TRUE(MakeDirectories(data / "store", 0700).has_value());
  {
    auto database = Database::Open({.directory = data / "store",
                                    .write_buffer_bytes = 1 * kMiB,
                                    .block_cache_bytes = 1 * kMiB});
    ASSERT_TRUE(database.has_value());
    Database::WriteSet changes(**database);
    changes.Put(Table::kRows, row_key, row_value);
    changes.Put(Table::kInbox, Number(2), record);
    changes.Put(Table::kLedger, agent, '\x01' + Number(2) + Number(3));
    changes.Put(Table::kLedger, agent + Number(1), "answer 1");
    changes.Put(Table::kLedger, agent + Number(2), "answer 2");
    changes.Put(Table::kMeta, "applied", Number(1));
    // 1 batch, 1 contribution, 3 calls, sum 13, squares 67.
    changes.Put(Table::kMeta, "totals", std::string("\x01\x01\x01\x03\x0d\x43"));
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  const auto store = Store::Open({.data_dir = data, .checkpoint_seconds = 0});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->sequence(), 2U);

  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  TestBatch second;
  second.agent_id = TestAgent(1);
  second.sequence = wire::Sequence(2);
  second.rows.Add(std::string_view(row_key), histogram, Contribution::kNone);
  stats::RowKey key;
  ASSERT_TRUE(DecodeRowKey(row_key, key).has_value());
  EXPECT_EQ((*store)->Get(key).value()->histogram.count(), 6U);

  EXPECT_TRUE((*store)->Accept(second.View()).value().replay);
  EXPECT_EQ((*store)->Withdraw(second.Undo()).value().withdrawn_rows, 1U);
  const Sums rows = AllRows(**store);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.at(key).histogram, histogram);
  EXPECT_EQ(rows.at(key).scalars.contributions, 1U);
  const auto snapshot = (*store)->TakeSnapshot();
  EXPECT_EQ(snapshot.value().totals().batches, 1U);
  EXPECT_TRUE(snapshot.value().totals().sum == 13U);
}

// As a version to come will leave it. Whoever reads "corrupt" brings an old backup back.
TEST(DowngradeTest, WhatANewerProgramWroteIsRefusedAsThatAndNotAsDamage) {
  const testing::TempDir dir;
  const auto open = [&] { return Store::Open({.data_dir = dir.path(), .checkpoint_seconds = 0}); };
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  ASSERT_TRUE(open().value()->Accept(batch.View()).has_value());
  {
    const auto database = Database::Open({.directory = dir.path() / "store",
                                          .write_buffer_bytes = 1 * kMiB,
                                          .block_cache_bytes = 1 * kMiB});
    ASSERT_TRUE(database.has_value());
    Database::WriteSet changes(**database);
    changes.Put(Table::kInbox, Number(2), "\x06 in a new form");
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  auto store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kUnsupported) << store.error().message;
  EXPECT_THAT(store.error().message, ::testing::HasSubstr("batch 2 of the inbox"));
  {
    const std::string path = (dir.path() / "store").string();
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.push_back({name, {}});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, path, families, &handles, &opened).ok());
    const std::unique_ptr<rocksdb::DB> engine(opened);
    ASSERT_TRUE(engine->CreateColumnFamily({}, "moods", &handles.emplace_back()).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) engine->DestroyColumnFamilyHandle(handle);
  }
  store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kUnsupported) << store.error().message;
  EXPECT_THAT(store.error().message, ::testing::HasSubstr("'moods'"));
}

// The batches of golden_v2: what the tests' batches were when it was made.
TestBatch MakeOldBatch(unsigned agent, std::uint64_t sequence) {
  std::mt19937_64 random(agent * 1'000'003 + sequence);
  TestBatch batch;
  batch.agent_id = TestAgent(agent);
  batch.sequence = wire::Sequence(sequence);
  batch.answer = "answer " + std::to_string(agent) + " " + std::to_string(sequence);
  for (unsigned number = static_cast<unsigned>(random() % 4); number < 40;
       number += 1 + static_cast<unsigned>(random() % 9)) {
    stats::CostHistogram histogram;
    const unsigned values = 1 + static_cast<unsigned>(random() % 20);
    for (unsigned i = 0; i < values; ++i) histogram.Add(random() >> (random() % 48 + 16));
    batch.rows.Add(TestKey(number), histogram,
                   random() % 3 == 0 ? Contribution::kFirstUnweighted : Contribution::kNone);
  }
  return batch;
}

class GoldenStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Start("golden_v2"); }
  void Start(const std::string& golden) {
    ASSERT_TRUE(MakeDirectories(data(), 0700).has_value());
    std::filesystem::copy(std::filesystem::path(FIELDCOST_TEST_DATA) / golden / "store",
                          data() / "store");
    Open();
  }
  void Open() {
    store_.reset();
    auto store = Store::Open({.data_dir = data(), .checkpoint_seconds = 0});
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
  }
  std::filesystem::path data() const { return dir_.path() / "data"; }

  // What is in the sums: agents 1 to 3, sequences 1 to 6, without 2/1 and 3/2, which were
  // withdrawn.
  static std::vector<TestBatch> Batches() {
    std::vector<TestBatch> batches;
    for (unsigned agent = 1; agent <= 3; ++agent) {
      for (unsigned sequence = 1; sequence <= 6; ++sequence) {
        if ((agent == 2 && sequence == 1) || (agent == 3 && sequence == 2)) continue;
        batches.push_back(MakeOldBatch(agent, sequence));
      }
    }
    return batches;
  }
  // The rows of a new store that got exactly these batches.
  Sums FreshSums(const std::vector<TestBatch>& batches, const std::string& name) const {
    const auto store = Store::Open({.data_dir = dir_.path() / name, .checkpoint_seconds = 0});
    EXPECT_TRUE(store.has_value());
    for (const TestBatch& batch : batches) {
      EXPECT_TRUE((*store)->Accept(batch.View()).has_value());
    }
    return AllRows(**store);
  }
  void ExpectGood() {
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok()) << report->first_problem;
  }

  const testing::TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_F(GoldenStoreTest, AStoreOfThePreviousVersionHasItsSumsLedgerAndAgents) {
  EXPECT_EQ(store_->sequence(), 20U);
  EXPECT_EQ(AllRows(*store_), FreshSums(Batches(), "fresh"));
  ExpectGood();
  for (const TestBatch& batch : Batches()) {
    const auto replay = store_->Accept(batch.View());
    ASSERT_TRUE(replay.has_value());
    EXPECT_TRUE(replay->replay);
    EXPECT_EQ(replay->answer, batch.answer);
  }
  EXPECT_TRUE(store_->Accept(MakeOldBatch(2, 1).View()).value().replay);  // withdrawn
  EXPECT_EQ(store_->Accept(MakeOldBatch(3, 9).View()).value().answer, "withdrawn");
  EXPECT_EQ(store_->Withdraw(MakeOldBatch(3, 2).Undo()).value().kind, WithdrawalKind::kRepeated);
  EXPECT_TRUE(store_->IsEnrolled(TestAgent(1), wire::Epoch(1)).value());
  EXPECT_EQ(store_->RevokedAgents().value(), std::vector<std::string>{TestAgent(7)});
  EXPECT_TRUE(store_->Bind("pseudonym.secret", "fingerprint").has_value());
  EXPECT_FALSE(store_->Bind("pseudonym.secret", "another").has_value());
  EXPECT_EQ(store_->first_week(), 0U);
  EXPECT_EQ(store_->first_epoch(), wire::Epoch(0));
}

TEST_F(GoldenStoreTest, ItsBatchesCanBeWithdrawnInAnyOrderTogetherWithNewOnes) {
  TestBatch fresh;
  MakeTestBatch(5, 1, fresh, nullptr);
  ASSERT_TRUE(store_->Accept(fresh.View()).has_value());
  std::vector<TestBatch> batches = Batches();
  std::mt19937 random(3);
  std::shuffle(batches.begin(), batches.end(), random);
  while (batches.size() > 4) {
    const auto result = store_->Withdraw(batches.back().Undo());
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->kind, WithdrawalKind::kWithdrawn);
    batches.pop_back();
    if (batches.size() % 4 == 0) Open();
  }
  ExpectGood();
  std::vector<TestBatch> left = batches;
  left.push_back(fresh);
  EXPECT_EQ(AllRows(*store_), FreshSums(left, "with_new"));
  ASSERT_TRUE(store_->Withdraw(fresh.Undo()).has_value());
  EXPECT_EQ(AllRows(*store_), FreshSums(batches, "without_new"));
  ExpectGood();
}

TEST_F(GoldenStoreTest, ItIsBackedUpRestoredExpiredAndCompacted) {
  const Sums sums = AllRows(*store_);
  ASSERT_TRUE(store_->Backup(dir_.path() / "backups").has_value());
  const auto expired = store_->Expire(2901, wire::Epoch(0));
  ASSERT_TRUE(expired.has_value());
  EXPECT_GT(expired->rows, 0U);
  ASSERT_TRUE(store_->Compact().has_value());
  ExpectGood();
  ASSERT_TRUE(Store::RestoreBackup(dir_.path() / "backups", dir_.path() / "restored").has_value());
  const auto restored =
      Store::Open({.data_dir = dir_.path() / "restored", .checkpoint_seconds = 0});
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(AllRows(**restored), sums);
}

// Agents 8 and 9 have batches on probation, 1 to 3 such that count: in the rows, in the inbox as
// they came or row by row, and withdrawn from there.
class UnsizedStoreTest : public GoldenStoreTest {
 protected:
  void SetUp() override { Start("golden_v3"); }

  static TestBatch Old(unsigned agent, std::uint64_t sequence) {
    TestBatch batch;
    MakeTestBatch(agent, sequence, batch, nullptr, Contribution::kFirstUnsized);
    return batch;
  }
  static TestBatch New(unsigned agent, std::uint64_t sequence) {
    TestBatch batch;
    MakeTestBatch(agent, sequence, batch, nullptr);
    return batch;
  }
  static std::vector<TestBatch> Counting() {
    std::vector<TestBatch> batches;
    for (unsigned agent = 1; agent <= 3; ++agent) {
      for (unsigned sequence = 1; sequence <= 6; ++sequence) {
        if ((agent == 2 && sequence == 1) || (agent == 3 && sequence == 2)) continue;
        if (agent == 3 && sequence == 5) continue;
        batches.push_back(Old(agent, sequence));
      }
    }
    return batches;
  }
};

TEST_F(UnsizedStoreTest, WhatItsInboxHasAddsWhatTheOldProgramAddedHoweverOftenItIsRead) {
  const Sums sums = FreshSums(Counting(), "fresh");
  for (const auto& [key, row] : sums) EXPECT_EQ(row.sizes, stats::ContributionSizes());
  for (int start = 0; start < 3; ++start) {
    for (const auto& [key, row] : sums) EXPECT_EQ(*store_->Get(key).value(), row);
    Open();
  }
  EXPECT_EQ(AllRows(*store_), sums);
  ExpectGood();
}

TEST_F(UnsizedStoreTest, ItsBatchesAndNewOnesAreWithdrawnInAnyOrderAndLeaveNoTrace) {
  std::vector<TestBatch> batches = Counting();
  // The first of these brings in what was held of agent 9.
  for (const std::uint64_t sequence : {3U, 5U}) {
    batches.push_back(New(9, sequence));
    ASSERT_TRUE(store_->Accept(batches.back().View()).has_value());
  }
  for (const std::uint64_t sequence : {1U, 2U}) batches.push_back(Old(9, sequence));
  for (unsigned agent = 1; agent <= 3; ++agent) {
    batches.push_back(New(agent, 7));
    ASSERT_TRUE(store_->Accept(batches.back().View()).has_value());
  }
  std::mt19937 random(5);
  std::shuffle(batches.begin(), batches.end(), random);
  for (int round = 0; !batches.empty(); ++round) {
    ASSERT_EQ(AllRows(*store_), FreshSums(batches, "fresh" + std::to_string(round)));
    ExpectGood();
    for (int i = 0; i < 4 && !batches.empty(); ++i) {
      const auto result = store_->Withdraw(batches.back().Undo());
      ASSERT_TRUE(result.has_value()) << result.error().message;
      EXPECT_EQ(result->kind, WithdrawalKind::kWithdrawn);
      batches.pop_back();
    }
    Open();
  }
  EXPECT_TRUE(AllRows(*store_).empty());
  EXPECT_TRUE(store_->Withdraw(Old(8, 1).Undo()).has_value()) << "still held";
  ExpectGood();
}

}  // namespace
}  // namespace fieldcost::store
