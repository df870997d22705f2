// Tests databases with page checksums, and read-only access that changes nothing.
#include "common/sqlite/checked_pages.h"

#include <fstream>

#include "common/base/file.h"
#include "common/sqlite/sqlite.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::sqlite {
namespace {

constexpr std::size_t kMaxBytes = 16 << 20;

class CheckedPagesTest : public ::testing::Test {
 protected:
  Database MustOpen(Database::Access access = Database::Access::kCreate) {
    auto database = Database::Open(file_, access, Database::Pages::kChecked);
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }
  void Fill(Database& database, int rows) {
    ASSERT_TRUE(database.Execute("CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b BLOB)"));
    for (int i = 0; i < rows; ++i) {
      ASSERT_TRUE(database.Execute("INSERT INTO t(b) VALUES (randomblob(300))"));
    }
  }
  // Reads everything; returns the number of rows, or an error.
  Result<std::uint64_t> ReadAll(Database::Access access) {
    FIELDCOST_ASSIGN(Database database, Database::Open(file_, access, Database::Pages::kChecked));
    Statement check = database.Prepare("PRAGMA integrity_check(1)");
    FIELDCOST_TRY(check.Step());
    if (check.ColumnText(0) != "ok") return Fail(ErrorCode::kCorrupt, "{}", check.ColumnText(0));
    return database.QueryInt("SELECT count(*) + 0 * sum(length(b)) FROM t");
  }
  std::string BytesOf(const std::string& suffix) {
    return ReadFile(file_.string() + suffix, kMaxBytes).value_or("none");
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "te?t 100%.db";
};

TEST_F(CheckedPagesTest, EveryFlippedBitOfAPageIsDetected) {
  {
    Database database = MustOpen();
    Fill(database, 40);
  }
  const std::string good = BytesOf("");
  ASSERT_EQ(*ReadAll(Database::Access::kInspect), 40U);
  ASSERT_GT(good.size(), 3U * kCheckedPageBytes);
  // Flips one bit of each tested byte, a different one each time.
  for (std::size_t at = 0; at < good.size(); at += 13) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    std::ofstream(file_, std::ios::binary) << bad;
    const auto read = ReadAll(Database::Access::kInspect);
    ASSERT_FALSE(read.has_value()) << "byte " << at;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << read.error().message;
  }
}

TEST_F(CheckedPagesTest, APageInThePlaceOfAnotherIsDetected) {
  {
    Database database = MustOpen();
    Fill(database, 40);
  }
  std::string bytes = BytesOf("");
  for (std::size_t i = 0; i < kCheckedPageBytes; ++i) {
    std::swap(bytes[2 * kCheckedPageBytes + i], bytes[3 * kCheckedPageBytes + i]);
  }
  ASSERT_TRUE(WriteFileAtomically(file_, bytes, 0600));
  EXPECT_FALSE(ReadAll(Database::Access::kInspect).has_value());
}

TEST_F(CheckedPagesTest, KeepsChecksumsThroughTheWriteAheadLogAndDeletions) {
  Database database = MustOpen();
  ASSERT_TRUE(database.UseWriteAheadLog());
  Fill(database, 2'000);
  ASSERT_TRUE(database.Execute("DELETE FROM t WHERE a % 3 = 0; PRAGMA wal_checkpoint(TRUNCATE)"));
  Fill(database, 100);
  EXPECT_EQ(*ReadAll(Database::Access::kRead), 2'000U - 666 + 100);
  ASSERT_TRUE(database.Execute("VACUUM"));
  EXPECT_EQ(*ReadAll(Database::Access::kRead), 2'000U - 666 + 100);
}

TEST_F(CheckedPagesTest, ALookChangesNoByteOfAnyFile) {
  // The state after a kill: the files are copied while they are in use.
  const testing::TempDir live;
  const std::filesystem::path original = live.path() / "original.db";
  {
    auto database = Database::Open(original, Database::Access::kCreate, Database::Pages::kChecked);
    ASSERT_TRUE(database && database->UseWriteAheadLog());
    Fill(*database, 40);
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::copy_file(original.string() + suffix, file_.string() + suffix);
    }
  }
  const std::string before = BytesOf("") + BytesOf("-wal") + BytesOf("-shm");
  EXPECT_EQ(*ReadAll(Database::Access::kInspect), 40U);
  EXPECT_EQ(BytesOf("") + BytesOf("-wal") + BytesOf("-shm"), before);
  // Without the log, its content is lost, and no new log is created.
  std::filesystem::remove(file_.string() + "-wal");
  (void)ReadAll(Database::Access::kInspect);
  EXPECT_FALSE(std::filesystem::exists(file_.string() + "-wal"));
}

TEST_F(CheckedPagesTest, ADatabaseWithoutChecksumsIsRefused) {
  {
    auto plain = Database::Open(file_, Database::Access::kCreate);
    ASSERT_TRUE(plain && plain->Execute("CREATE TABLE t(a)"));
  }
  const auto opened = Database::Open(file_, Database::Access::kWrite, Database::Pages::kChecked);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::sqlite
