#include "common/sqlite/sqlite.h"

#include <sys/stat.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/no_free_descriptor.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::sqlite {
namespace {

using ::testing::HasSubstr;

class SqliteTest : public ::testing::Test {
 protected:
  Database MustOpen() {
    auto database = Database::Open(file_, Database::Access::kCreate);
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "test.db";
};

TEST_F(SqliteTest, ValuesComeBackBitForBit) {
  Database database = MustOpen();
  ASSERT_TRUE(database.Execute("CREATE TABLE t(i INTEGER, t TEXT, b BLOB)"));
  const std::string blob("a\0b", 3);
  Statement insert = database.Prepare("INSERT INTO t VALUES(?, ?, ?)");
  ASSERT_TRUE(insert.Int(~std::uint64_t{0}).Text("").Blob(blob).Run());
  ASSERT_TRUE(insert.Int(7).Text("x").Blob("").Run());  // used again
  EXPECT_EQ(database.changes(), 1U);

  Statement select = database.Prepare("SELECT i, t, b FROM t ORDER BY rowid");
  ASSERT_TRUE(select.Step().value());
  EXPECT_EQ(select.ColumnInt(0), ~std::uint64_t{0});
  EXPECT_EQ(select.ColumnText(1), "");
  EXPECT_EQ(select.ColumnText(2), blob);
  ASSERT_TRUE(select.Step().value());
  EXPECT_EQ(select.ColumnInt(0), 7U);
  EXPECT_FALSE(select.Step().value());
}

TEST_F(SqliteTest, ANewFileIsItsOwnersOnly) {
  MustOpen();
  struct stat info {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

// The sanitizers themselves need descriptors to inspect memory.
#ifndef __SANITIZE_ADDRESS__
TEST_F(SqliteTest, ReportsThatTooManyFilesAreOpen) {
  MustOpen();
  const testing::NoFreeDescriptor none;
  const auto database = Database::Open(file_, Database::Access::kRead);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(database.error().message, HasSubstr("Too many open files; raise the limit with"));
}
#endif

TEST_F(SqliteTest, ATransactionThatIsNotCommittedLeavesNothing) {
  Database database = MustOpen();
  ASSERT_TRUE(database.Execute("CREATE TABLE t(i)"));
  {
    auto transaction = Transaction::Begin(database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database.Execute("INSERT INTO t VALUES(1)"));
  }
  EXPECT_EQ(database.QueryInt("SELECT count(*) FROM t").value(), 0U);
  {
    auto transaction = Transaction::Begin(database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database.Execute("INSERT INTO t VALUES(1)"));
    ASSERT_TRUE(transaction->Commit());
  }
  EXPECT_EQ(database.QueryInt("SELECT count(*) FROM t").value(), 1U);
}

TEST_F(SqliteTest, ErrorsNameTheOperationTheFileAndTheReason) {
  const auto absent = Database::Open(file_, Database::Access::kRead);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr(file_.string()));

  std::ofstream(file_) << std::string(4096, 'x');
  const auto foreign = Database::Open(file_, Database::Access::kWrite);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::kCorrupt);
  std::filesystem::remove(file_);

  Database database = MustOpen();
  const auto step = database.Prepare("SELECT x FROM nowhere").Int(1).Step();
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace fieldcost::sqlite
