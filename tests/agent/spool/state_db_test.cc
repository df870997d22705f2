#include "agent/spool/state_db.h"

#include <gtest/gtest.h>

#include <limits>

#include "agent/spool/spool_db.h"

#include "tests/support/temp_dir.h"

namespace fieldcost::spool {
namespace {

constexpr RunNumbers kNumbers{
    .lost_calls = 1, .timed_calls = 2, .untimed_calls = 3, .dropped_picks = 4, .refused_cells = 5};
constexpr WallTime kNow{std::chrono::microseconds(1'750'000'000'000'000)};
const RunIdentity kRun{.name = "a.run", .inode = 7, .start_unix_ns = 8};

class StateDbTest : public ::testing::Test {
 protected:
  StateDb Open() {
    auto database = StateDb::Open(file_);
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }
  void Execute(const char* sql) {
    auto raw = sqlite::Database::Open(file_, sqlite::Database::Access::kCreate);
    ASSERT_TRUE(raw) << raw.error().message;
    const Status status = raw->Execute(sql);
    ASSERT_TRUE(status) << status.error().message;
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "agent.db";
};

TEST_F(StateDbTest, TheFirstClassOfAnEpochStays) {
  const stats::HardwareClass before{.architecture = "x86_64", .log2_cores = 2};
  const stats::HardwareClass now{.architecture = "x86_64", .log2_cores = 3};
  StateDb database = Open();
  SpoolDb spool(database);
  const wire::Epoch epoch(222);
  const wire::Epoch next(223);
  EXPECT_EQ(*spool.ClassOf(epoch, now), now);
  ASSERT_TRUE(spool.PinClass(epoch, before));
  ASSERT_TRUE(spool.PinClass(epoch, now));
  EXPECT_EQ(*spool.ClassOf(epoch, now), before) << "the first one stays";
  EXPECT_EQ(*spool.ClassOf(next, now), now);
  ASSERT_TRUE(spool.KeepClasses({wire::Epoch(221), next}));
  EXPECT_EQ(*spool.ClassOf(epoch, now), now);
}

TEST_F(StateDbTest, ANewDatabaseKnowsWhenAllItsRowsWereMeasured) {
  EXPECT_EQ(*Open().Get(kRecentSinceNumber, 0), 0U);
}

LocalKey KeyOf(const char* symbol, stats::Metric metric = stats::Metric::kWallTime) {
  return {.api = {.soname = "libz.so.1", .symbol = symbol}, .metric = metric, .week = 2800};
}

stats::CostHistogram Values(std::initializer_list<std::uint64_t> values) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  return histogram;
}

TEST_F(StateDbTest, RecentRowsAreFoundByTimeAndByRequest) {
  StateDb database = Open();
  ASSERT_TRUE(database.AddRecent({.second = 100}, KeyOf("a"), Values({1})));
  ASSERT_TRUE(database.AddRecent({.second = 100}, KeyOf("a"), Values({2})));
  ASSERT_TRUE(database.AddRecent({.second = 200, .request = 7}, KeyOf("a"), Values({4})));
  ASSERT_TRUE(database.AddRecent({.second = 200, .request = 7, .is_fielded = true}, KeyOf("b"),
                                 Values({8})));
  ASSERT_TRUE(database.AddRecent({.second = 300, .request = 8}, KeyOf("a"), Values({16})));

  EXPECT_EQ(database.FindRecent({})->sums.at(KeyOf("a")), Values({1, 2, 4, 16}));
  EXPECT_EQ(database.FindRecent({.from_second = 101})->sums.at(KeyOf("a")), Values({4, 16}));
  EXPECT_EQ(database.FindRecent({.before_second = 200})->sums.at(KeyOf("a")), Values({1, 2}));
  EXPECT_EQ(database.FindRecent({.from_second = 200, .before_second = 201})->sums.size(), 2U);
  const auto requested = database.FindRecent({.request = 7});
  EXPECT_EQ(requested->sums.at(KeyOf("a")), Values({4}));
  EXPECT_TRUE(requested->any_fielded);
  EXPECT_FALSE(database.FindRecent({.request = 8})->any_fielded);
  EXPECT_TRUE(database.FindRecent({.request = 9})->sums.empty());

  ASSERT_TRUE(database.AddLocal(KeyOf("a"), Values({1}), false));
  ASSERT_TRUE(database.AddPending(KeyOf("a"), Values({1}), kNow));
  ASSERT_TRUE(database.ForgetLocal());
  EXPECT_TRUE(database.FindRecent({})->sums.empty());
  EXPECT_TRUE(database.LocalRows()->empty());
  EXPECT_EQ(database.PendingRows("h", 9)->size(), 1U);
}

TEST_F(StateDbTest, TheOldestRecentRowsGoWhenThereAreTooMany) {
  StateDb database = Open();
  {
    auto transaction = database.Begin();
    ASSERT_TRUE(transaction);
    for (std::uint64_t i = 0; i <= kMaxRecentRows; ++i) {
      ASSERT_TRUE(
          database.AddRecent({.second = 100 + i / 2}, KeyOf(i % 2 == 0 ? "a" : "b"), Values({i})));
    }
    ASSERT_TRUE(transaction->Commit());
  }
  ASSERT_TRUE(database.PruneRecent());
  EXPECT_EQ(*database.Get(kRecentSinceNumber, 0), 101U);
  EXPECT_TRUE(database.FindRecent({.before_second = 101})->sums.empty());
  EXPECT_EQ(database.FindRecent({.from_second = 101, .before_second = 102})->sums.size(), 2U);
  ASSERT_TRUE(database.PruneRecent());
  EXPECT_EQ(*database.Get(kRecentSinceNumber, 0), 101U) << "nothing more goes";
}

TEST_F(StateDbTest, DoesNotTouchADatabaseOfAnotherVersion) {
  Open();
  Execute("PRAGMA user_version = 2");
  const auto database = StateDb::Open(file_);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, ErrorCode::kUnsupported);
}

TEST_F(StateDbTest, NumbersStopAtTheTopInsteadOfTurningAround) {
  StateDb database = Open();
  constexpr std::uint64_t kTop = std::numeric_limits<std::int64_t>::max();
  ASSERT_TRUE(database.Add("x", kTop - 1));
  EXPECT_EQ(*database.Get("x", 0), kTop - 1);
  ASSERT_TRUE(database.Add("x", 7));
  EXPECT_EQ(*database.Get("x", 0), kTop);
  ASSERT_TRUE(database.Add("y", std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(*database.Get("y", 0), kTop);
}

}  // namespace
}  // namespace fieldcost::spool
