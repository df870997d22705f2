// A store as the versions before withdrawals left it: only version 1 records in the inbox, no
// tombstones, no enrolments. Built by hand from golden bytes, not by today's code.
#include <gtest/gtest.h>

#include "aggregator/store/database.h"
#include "aggregator/store/store.h"
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

}  // namespace
}  // namespace fieldcost::store
