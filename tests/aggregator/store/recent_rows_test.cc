#include "aggregator/store/recent_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/store_row_codec.h"
#include "aggregator/store/write_failure.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

class RecentRowsTest : public ::testing::Test {
 protected:
  RecentRowsTest() {
    auto opened = Database::Open({.directory = dir_.path() / "store",
                                  .write_buffer_bytes = kBufferBytes,
                                  .block_cache_bytes = kBufferBytes});
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    database_ = std::move(*opened);
  }

  // Rows of one call each, with the same bits whenever they are made.
  static AcceptedRows MakeRows(const std::vector<unsigned>& keys) {
    AcceptedRows rows;
    stats::CostHistogram histogram;
    histogram.Add(7);
    for (const unsigned key : keys) {
      rows.Add(TestKey(key), histogram, Contribution::kFirst);
    }
    return rows;
  }

  // The call count in the newest sums of this row; 0 if it does not exist.
  static std::uint64_t CallsOf(const RecentRows& recent, unsigned number) {
    std::string key;
    AppendRowKey(TestKey(number), key);
    CompactRow sums;
    bool found = false;
    EXPECT_TRUE(recent.Read(key, sums, found).has_value());
    return found ? sums.buckets.front().sums.count : 0;
  }

  testing::TempDir dir_;
  std::unique_ptr<Database> database_;
  StoreOptions options_{.checkpoint_rows = 3};
  WriteFailure failure_;
};

TEST_F(RecentRowsTest, FrozenRowsAreReadUntilTheyAreDropped) {
  RecentRows recent(*database_, options_, failure_);
  recent.Add(MakeRows({1, 2}));
  const RecentRows::Frozen frozen = recent.SetAside();
  ASSERT_NE(frozen.rows, nullptr);
  EXPECT_EQ(frozen.rows->row_count(), 2U);
  recent.Add(MakeRows({2, 3}));
  EXPECT_EQ(CallsOf(recent, 1), 1U);
  EXPECT_EQ(CallsOf(recent, 2), 2U);
  EXPECT_EQ(CallsOf(recent, 3), 1U);
  EXPECT_EQ(recent.row_count(), 4U);
  recent.DropFrozen();
  EXPECT_EQ(CallsOf(recent, 1), 0U);
  EXPECT_EQ(CallsOf(recent, 2), 1U);
  EXPECT_EQ(recent.row_count(), 2U);
}

TEST_F(RecentRowsTest, RowsStoredAfterTheFreezeAreNotCountedTwice) {
  RecentRows recent(*database_, options_, failure_);
  recent.Add(MakeRows({1}));
  ASSERT_NE(recent.SetAside().rows, nullptr);
  std::string key;
  AppendRowKey(TestKey(1), key);
  CompactRow sums;
  bool found = false;
  ASSERT_TRUE(recent.Read(key, sums, found).has_value());
  std::string value;
  AppendRowValue(sums, value);
  Database::WriteSet changes(*database_);
  changes.Put(Table::kRows, key, value);
  ASSERT_TRUE(database_->Write(changes).has_value());
  EXPECT_EQ(CallsOf(recent, 1), 1U);
  recent.DropFrozen();
  EXPECT_EQ(CallsOf(recent, 1), 1U);
}

TEST_F(RecentRowsTest, SetsNothingAsideWithoutRowsOrAfterAFailure) {
  RecentRows recent(*database_, options_, failure_);
  EXPECT_EQ(recent.SetAside().rows, nullptr);
  recent.Add(MakeRows({1}));
  static_cast<void>(failure_.Record(Fail(ErrorCode::kIo, "disk full")));
  EXPECT_EQ(recent.SetAside().rows, nullptr);
  EXPECT_EQ(CallsOf(recent, 1), 1U);
}

TEST_F(RecentRowsTest, ACheckpointIsAwaitedUntilItIsDue) {
  RecentRows recent(*database_, options_, failure_);
  EXPECT_FALSE(recent.IsCheckpointDue());
  bool is_due = false;
  std::thread waiter([&] { is_due = recent.AwaitCheckpoint(); });
  recent.Add(MakeRows({1, 2, 3}));
  recent.WakeIfDue();
  waiter.join();
  EXPECT_TRUE(is_due);
  EXPECT_TRUE(recent.IsCheckpointDue());
}

TEST_F(RecentRowsTest, WaitingEndsWithTheStore) {
  options_.checkpoint_bytes = 0;  // never any room
  RecentRows recent(*database_, options_, failure_);
  failure_.WakeBy([&] { recent.WakeAll(); });
  std::thread writer([&] { recent.AwaitMemory(); });
  static_cast<void>(failure_.Record(Fail(ErrorCode::kIo, "disk full")));
  writer.join();
  EXPECT_FALSE(recent.AwaitCheckpoint());
  WriteFailure none;
  RecentRows stopped(*database_, options_, none);
  stopped.Stop();
  EXPECT_FALSE(stopped.AwaitCheckpoint());
}

}  // namespace
}  // namespace fieldcost::store
