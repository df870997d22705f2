#include "agent/daemon/state_db.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/temp_dir.h"

namespace fieldcost::daemon {
namespace {

constexpr RunNumbers kNumbers{
    .lost_calls = 1, .timed_calls = 2, .untimed_calls = 3, .dropped_picks = 4, .refused_cells = 5};
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

TEST_F(StateDbTest, DatabaseOfVersionOneIsBroughtUpToDateWithItsContent) {
  Open();
  // As version 1 made it.
  Execute(
      "DROP TABLE run_total; DROP TABLE run;"
      "CREATE TABLE run (name TEXT PRIMARY KEY, inode INTEGER NOT NULL,"
      "  start_unix_ns INTEGER NOT NULL, lost_calls INTEGER NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE run_total (name TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE,"
      "  pick INTEGER NOT NULL, metric INTEGER NOT NULL, histogram BLOB NOT NULL,"
      "  PRIMARY KEY (name, pick, metric)) WITHOUT ROWID;"
      "INSERT INTO run VALUES ('a.run', 7, 8, 5);"
      "INSERT INTO number VALUES ('lost_calls', 5);"
      "PRAGMA user_version = 1");
  StateDb database = Open();
  const auto snapshot = database.FindSnapshot(kRun);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->numbers, RunNumbers{.lost_calls = 5});
  EXPECT_EQ(*database.Get(kLostCallsNumber, 0), 5U);
  ASSERT_TRUE(database.SaveSnapshot(kRun, {.numbers = kNumbers, .totals = {}}));
  EXPECT_EQ(database.FindSnapshot(kRun)->numbers, kNumbers);
}

TEST_F(StateDbTest, DatabaseOfAVersionToComeIsLeftAlone) {
  Open();
  Execute("PRAGMA user_version = 3");
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
}  // namespace fieldcost::daemon
