#include "agent/spool/state_db.h"

#include <gtest/gtest.h>

#include <limits>

#include "agent/spool/spool_db.h"

#include "tests/support/temp_dir.h"

namespace fieldcost::agent {
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

// The tables that versions 1 and 2 have in common.
constexpr char kOldTables[] =
    "CREATE TABLE number (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE run_total (name TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE,"
    "  pick INTEGER NOT NULL, metric INTEGER NOT NULL, histogram BLOB NOT NULL,"
    "  PRIMARY KEY (name, pick, metric)) WITHOUT ROWID;"
    "CREATE TABLE local_row (key TEXT PRIMARY KEY, is_private INTEGER NOT NULL,"
    "  histogram BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE pending_row (key TEXT PRIMARY KEY, since INTEGER NOT NULL,"
    "  histogram BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE contributed (hardware TEXT NOT NULL, key TEXT NOT NULL, week INTEGER NOT NULL,"
    "  sequence INTEGER NOT NULL, PRIMARY KEY (hardware, key)) WITHOUT ROWID;"
    "CREATE TABLE spool (sequence INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
    "  state INTEGER NOT NULL, rows INTEGER NOT NULL, created INTEGER NOT NULL,"
    "  sent INTEGER NOT NULL DEFAULT 0, size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    "  reason TEXT NOT NULL DEFAULT '', body BLOB NOT NULL);"
    "CREATE INDEX spool_by_state ON spool (state, sequence);"
    "CREATE TABLE module_version (path TEXT PRIMARY KEY, inode INTEGER NOT NULL,"
    "  modified_ns INTEGER NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT INTO number VALUES ('lost_calls', 5), ('next_sequence', 4);"
    "INSERT INTO spool VALUES (1, 1, 1, 10, 1000, 2000, 3, 'aa', '', ''),"
    "  (2, 1, 2, 11, 1001, 0, 3, 'bb', 'status 400: no', x'626262'),"
    "  (3, 1, 0, 12, 1002, 0, 3, 'cc', '', x'636363');"
    "INSERT INTO contributed VALUES ('h', 'k1', 7, 1), ('h', 'k3', 7, 3);";
constexpr char kRunOfVersion1[] =
    "CREATE TABLE run (name TEXT PRIMARY KEY, inode INTEGER NOT NULL,"
    "  start_unix_ns INTEGER NOT NULL, lost_calls INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO run VALUES ('a.run', 7, 8, 5);";
constexpr char kRunOfVersion2[] =
    "CREATE TABLE run (name TEXT PRIMARY KEY, inode INTEGER NOT NULL,"
    "  start_unix_ns INTEGER NOT NULL, lost_calls INTEGER NOT NULL, timed_calls INTEGER NOT NULL,"
    "  untimed_calls INTEGER NOT NULL, dropped_picks INTEGER NOT NULL,"
    "  refused_cells INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO run VALUES ('a.run', 7, 8, 5, 0, 0, 0, 0);";

TEST_F(StateDbTest, OldDatabasesAreBroughtUpToDateWithTheirContent) {
  for (const int version : {1, 2}) {
    std::filesystem::remove(file_);
    Execute(version == 1 ? kRunOfVersion1 : kRunOfVersion2);
    Execute(kOldTables);
    Execute(version == 1 ? "PRAGMA user_version = 1" : "PRAGMA user_version = 2");
    StateDb database = Open();
    const auto snapshot = database.FindSnapshot(kRun);
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(snapshot->numbers, RunNumbers{.lost_calls = 5});
    EXPECT_EQ(*database.Get(kLostCallsNumber, 0), 5U);
    ASSERT_TRUE(database.SaveSnapshot(kRun, {.numbers = kNumbers, .totals = {}}));
    EXPECT_EQ(database.FindSnapshot(kRun)->numbers, kNumbers);

    SpoolDb spool(database);
    const auto log = spool.Log();
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_EQ(log->size(), 3U);
    EXPECT_EQ((*log)[0].state, SpoolState::kSent);
    EXPECT_EQ((*log)[0].sent, WallTime(std::chrono::microseconds(2000)));
    EXPECT_FALSE((*log)[0].can_withdraw) << "its bytes were not kept";
    EXPECT_EQ((*log)[1].reason, "status 400: no");
    const auto queued = spool.FirstQueued();
    ASSERT_TRUE(queued && *queued);
    EXPECT_EQ((*queued)->id, 3U);
    EXPECT_EQ((*queued)->epoch, wire::kFirstEpoch);
    EXPECT_EQ((*queued)->sequence, 3U);
    EXPECT_EQ((*queued)->body, "ccc");
    EXPECT_GT((*queued)->attempts, 0U) << "it may have been";
    EXPECT_EQ(*spool.Add("ddd", 1, wire::kFirstEpoch, kNow), 4U);
    EXPECT_EQ(spool.Find(4)->value().sequence, 4U) << "the old epoch goes on";
    ASSERT_TRUE(spool.MarkQuarantined(3, "no", kNow));
    EXPECT_EQ(*database.connection().QueryInt("SELECT count(*) FROM contributed"), 1U);
  }
}

constexpr char kWithoutVersion6[] =
    "DROP TABLE recent_row; ALTER TABLE run DROP COLUMN looked_second;";

TEST_F(StateDbTest, DatabasesOfVersion3HaveNoClassesYet) {
  const stats::HardwareClass before{.architecture = "x86_64", .log2_cores = 2};
  const stats::HardwareClass now{.architecture = "x86_64", .log2_cores = 3};
  Open();
  Execute(kWithoutVersion6);
  Execute("DROP TABLE epoch_class; PRAGMA user_version = 3");
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

TEST_F(StateDbTest, DatabasesOfVersions4And5DoNotKnowWhenTheirRowsWereMeasured) {
  EXPECT_EQ(*Open().Get(kRecentSinceNumber, 0), 0U) << "a new one knows all";
  for (const char* version : {"PRAGMA user_version = 4", "PRAGMA user_version = 5"}) {
    Execute(kWithoutVersion6);
    Execute("DELETE FROM number WHERE name = 'recent_since'");
    Execute(version);
    StateDb database = Open();
    EXPECT_GT(*database.Get(kRecentSinceNumber, 0), 1'700'000'000U);
    EXPECT_TRUE(database.FindRecent({})->sums.empty());
    ASSERT_TRUE(
        database.SaveSnapshot(kRun, {.looked_second = 9, .numbers = kNumbers, .totals = {}}));
    const auto snapshot = database.FindSnapshot(kRun);
    EXPECT_TRUE(snapshot->is_known);
    EXPECT_EQ(snapshot->looked_second, 9U);
  }
}

LocalKey KeyOf(const char* symbol, stats::Metric metric = stats::Metric::kWallTime) {
  return {.api = {.soname = "libz.so.1", .symbol = symbol}, .metric = metric, .week = 2800};
}

stats::CostHistogram Values(std::initializer_list<std::uint64_t> values) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  return histogram;
}

TEST_F(StateDbTest, DropsBytesThatProgramsBeforeVersion7Counted) {
  {
    StateDb database = Open();
    for (unsigned metric = 1; metric <= shm::kMaxMetric; ++metric) {
      const LocalKey key = KeyOf("inflate", static_cast<stats::Metric>(metric));
      ASSERT_TRUE(database.AddLocal(key, Values({metric}), false));
      ASSERT_TRUE(database.AddPending(key, Values({metric}), kNow));
      ASSERT_TRUE(database.AddRecent({.second = 100}, key, Values({metric})));
    }
  }
  Execute("PRAGMA user_version = 6");
  StateDb database = Open();
  EXPECT_EQ(database.LocalRows()->size(), shm::kMaxMetric - 7);
  EXPECT_EQ(database.PendingRows("h", 99)->size(), shm::kMaxMetric - 7);
  const auto recent = database.FindRecent({});
  EXPECT_EQ(recent->sums.size(), shm::kMaxMetric - 7);
  EXPECT_FALSE(recent->sums.contains(KeyOf("inflate", stats::Metric::kAllocInclusive)));
  EXPECT_FALSE(recent->sums.contains(KeyOf("inflate", stats::Metric::kNetSent)));
  EXPECT_TRUE(recent->sums.contains(KeyOf("inflate", stats::Metric::kCpuCycles)));
  EXPECT_TRUE(recent->sums.contains(KeyOf("inflate", stats::Metric::kCallsPerRun)));
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

TEST_F(StateDbTest, DatabaseOfAVersionToComeIsLeftAlone) {
  Open();
  Execute("PRAGMA user_version = 8");
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
}  // namespace fieldcost::agent
