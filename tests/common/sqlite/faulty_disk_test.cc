#include "tests/common/sqlite/faulty_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/sqlite/sqlite.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeeds = 100;

class FaultyDiskTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "a.db"; }

  Result<sqlite::Database> Open(const char* synchronous) {
    FIELDCOST_ASSIGN(auto database,
                     sqlite::Database::Open(file(), sqlite::Database::Access::kCreate));
    FIELDCOST_TRY(database.UseWriteAheadLog());
    FIELDCOST_TRY(database.Execute(fmt::format("PRAGMA synchronous={}", synchronous).c_str()));
    return database;
  }
  // Creates a table with the number 1 and closes the database.
  void Begin() {
    auto database = Open("FULL");
    ASSERT_TRUE(database) << database.error().message;
    ASSERT_TRUE(database->Execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)"));
  }
  // Adds the number 2; the power fails while the database is still open.
  Status AddThenLosePower(const char* synchronous, std::uint64_t seed) {
    {
      auto database = Open(synchronous);
      if (!database) return database.error();
      const Status added = database->Execute("INSERT INTO t VALUES (2)");
      if (!added) return added;
      disk_.FailAt(FaultyDisk::Fault::kPowerLoss, 1);
    }
    disk_.LosePower(seed);
    return {};
  }
  std::uint64_t Sum() {
    const auto database = sqlite::Database::Open(file(), sqlite::Database::Access::kWrite);
    return database ? database->QueryInt("SELECT sum(n) FROM t").value_or(0) : 0;
  }

  TempDir directory_;
  FaultyDisk disk_{file()};
};

TEST_F(FaultyDiskTest, APowerLossKeepsWhatWasSyncedAndMayLoseTheRest) {
  std::set<std::uint64_t> sums;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Begin();
    ASSERT_TRUE(AddThenLosePower("FULL", seed));
    EXPECT_EQ(Sum(), 3U) << seed;
    disk_.LosePower(0);  // forgets the files
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(file().string() + suffix);
    }
    Begin();
    ASSERT_TRUE(AddThenLosePower("NORMAL", seed));
    sums.insert(Sum());
    disk_.LosePower(0);
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(file().string() + suffix);
    }
  }
  EXPECT_THAT(sums, ElementsAre(1U, 3U)) << "and never anything else";
}

TEST_F(FaultyDiskTest, AFullDiskFailsFromTheChosenWriteOnUntilThereIsRoomAgain) {
  Begin();
  disk_.FailAt(FaultyDisk::Fault::kFull, 3);
  {
    auto database = Open("NORMAL");
    ASSERT_TRUE(database) << database.error().message;
    for (int i = 0; i < 2; ++i) {
      const Status added = database->Execute("INSERT INTO t VALUES (2)");
      ASSERT_FALSE(added);
      EXPECT_EQ(added.error().code, ErrorCode::kIo);
      EXPECT_THAT(added.error().message, HasSubstr("full"));
    }
    EXPECT_TRUE(disk_.has_failed());
    disk_.Repair();
    EXPECT_TRUE(database->Execute("INSERT INTO t VALUES (2)"));
  }
  EXPECT_EQ(Sum(), 3U);
}

TEST_F(FaultyDiskTest, OtherFilesAreNotOnIt) {
  disk_.FailAt(FaultyDisk::Fault::kFull, 1);
  auto database =
      sqlite::Database::Open(directory_.path() / "b.db", sqlite::Database::Access::kCreate);
  ASSERT_TRUE(database);
  EXPECT_TRUE(database->Execute("CREATE TABLE t (n INTEGER)"));
  EXPECT_FALSE(disk_.has_failed());
}

}  // namespace
}  // namespace fieldcost::testing
