// Stores of other formats, and stores that have lost the mark of their format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>

#include "aggregator/store/database.h"
#include "aggregator/store/format_mark.h"
#include "aggregator/store/store.h"
#include "common/base/byte_order.h"
#include "common/base/file.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Number(std::uint64_t value) {
  std::string key;
  AppendBigEndian64(value, key);
  return key;
}

class FormatMarkTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Store>> Open() const {
    return Store::Open({.data_dir = data(), .checkpoint_seconds = 0});
  }
  std::unique_ptr<Database> OpenDatabase() const {
    auto database = Database::Open({.directory = data() / "store",
                                    .write_buffer_bytes = 1 * kMiB,
                                    .block_cache_bytes = 1 * kMiB});
    EXPECT_TRUE(database.has_value());
    return std::move(*database);
  }
  // Creates a store with one batch, then sets its format mark to `mark`, or removes the mark if
  // empty.
  void MakeStoreWithMark(const std::string& mark) const {
    TestBatch batch;
    MakeTestBatch(1, 1, batch, nullptr);
    ASSERT_TRUE(Open().value()->Accept(batch.View()).has_value());
    const auto database = OpenDatabase();
    Database::WriteSet changes(*database);
    if (mark.empty()) {
      changes.Delete(Table::kMeta, kFormatKey);
    } else {
      changes.Put(Table::kMeta, kFormatKey, mark);
    }
    ASSERT_TRUE(database->Write(changes).has_value());
  }
  std::filesystem::path data() const { return dir_.path() / "data"; }

  const testing::TempDir dir_;
};

// The message states what was attempted, on which store, why it failed and what to do.
void ExpectRefused(const Error& error, const std::string& attempt) {
  EXPECT_EQ(error.code, ErrorCode::kUnsupported) << error.message;
  EXPECT_THAT(error.message, ::testing::StartsWith(attempt));
  EXPECT_THAT(error.message, AllOf(HasSubstr("format 2"), HasSubstr("only format 1")));
}
void ExpectUnmarked(const Error& error, const std::string& attempt) {
  EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.message;
  EXPECT_THAT(error.message, ::testing::StartsWith(attempt));
  EXPECT_THAT(error.message, AllOf(HasSubstr("no format number"), HasSubstr("Restore a backup")));
}

TEST_F(FormatMarkTest, ANewStoreIsMarkedAndOpensAgain) {
  ASSERT_TRUE(Open().has_value());
  EXPECT_EQ(*OpenDatabase()->Get(Table::kMeta, "format"), Number(1));
  EXPECT_TRUE(Open().has_value());
  EXPECT_TRUE(Store::VerifyStopped({.data_dir = data()})->ok());
}

TEST_F(FormatMarkTest, AStoreThatWasMadeAndNotYetMarkedIsANewOne) {
  ASSERT_TRUE(MakeDirectories(data() / "store", 0700).has_value());
  OpenDatabase();
  EXPECT_TRUE(Store::VerifyStopped({.data_dir = data()}).has_value());
  ASSERT_TRUE(Open().has_value());
  EXPECT_EQ(*OpenDatabase()->Get(Table::kMeta, "format"), Number(1));
}

TEST_F(FormatMarkTest, AStoreOfAnotherFormatIsRefusedByEverythingThatOpensIt) {
  MakeStoreWithMark(Number(2));
  const std::string attempt = "open the store in " + (data() / "store").string();
  const auto verified = Store::VerifyStopped({.data_dir = data()});
  ASSERT_FALSE(verified.has_value());
  ExpectRefused(verified.error(), attempt);
  for (int start = 0; start < 2; ++start) {
    const auto store = Open();
    ASSERT_FALSE(store.has_value());
    ExpectRefused(store.error(), attempt);
  }
}

TEST_F(FormatMarkTest, ARefusedStoreGainsNoTables) {
  MakeStoreWithMark(Number(2));
  const std::string path = (data() / "store").string();
  const auto tables = [&] {
    std::vector<std::string> names;
    EXPECT_TRUE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
    return names;
  };
  {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : tables()) families.push_back({name, {}});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, path, families, &handles, &opened).ok());
    const std::unique_ptr<rocksdb::DB> engine(opened);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == "batches") {
        ASSERT_TRUE(engine->DropColumnFamily(handle).ok());
      }
      engine->DestroyColumnFamilyHandle(handle);
    }
  }
  const std::vector<std::string> before = tables();
  ASSERT_THAT(before, ::testing::Not(::testing::Contains("batches")));
  ASSERT_FALSE(Open().has_value());
  EXPECT_EQ(tables(), before);
}

TEST_F(FormatMarkTest, RecoverRefusesAnotherFormat) {
  MakeStoreWithMark(Number(2));
  const std::string attempt = "open the store in " + (data() / "store").string();
  for (const bool drop_damaged : {false, true}) {
    const auto recovered = Store::Recover({.data_dir = data()}, drop_damaged);
    ASSERT_FALSE(recovered.has_value());
    ExpectRefused(recovered.error(), attempt);
    EXPECT_FALSE(std::filesystem::exists(data() / "damaged.1"));
  }
}

TEST_F(FormatMarkTest, AStoreWithoutItsMarkIsRefusedWhicheverTableHasEntries) {
  for (const Table table : {Table::kRows, Table::kInbox, Table::kLedger, Table::kMeta, Table::kHeld,
                            Table::kProgress, Table::kBatches}) {
    std::filesystem::remove_all(data());
    ASSERT_TRUE(MakeDirectories(data() / "store", 0700).has_value());
    {
      const auto database = OpenDatabase();
      Database::WriteSet changes(*database);
      changes.Put(table, "key", "value");
      ASSERT_TRUE(database->Write(changes).has_value());
    }
    const auto store = Open();
    ASSERT_FALSE(store.has_value()) << static_cast<int>(table);
    ExpectUnmarked(store.error(), "open the store in ");
  }
}

TEST_F(FormatMarkTest, ABackupOfAnotherFormatIsRefusedBeforeAnythingIsRestored) {
  MakeStoreWithMark(Number(2));
  const std::filesystem::path backups = dir_.path() / "backups";
  ASSERT_TRUE(OpenDatabase()->Backup(backups, std::string(16, 'i') + "keys").has_value());
  bool is_prepared = false;
  const auto restored =
      Store::RestoreBackup(backups, dir_.path() / "restored", [&](std::string_view) -> Status {
        is_prepared = true;
        return {};
      });
  ASSERT_FALSE(restored.has_value());
  ExpectRefused(restored.error(), "restore the backup in " + backups.string());
  EXPECT_FALSE(is_prepared);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "restored" / "store"));
}

TEST_F(FormatMarkTest, AMalformedMarkIsDamage) {
  MakeStoreWithMark("2");
  const auto store = Open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kCorrupt) << store.error().message;
}

// As a future version will leave it. Reporting damage instead would make an operator restore a
// backup.
TEST(DowngradeTest, ReportsNewerFormatsAsUnsupportedNotAsDamage) {
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
    changes.Put(Table::kInbox, Number(2), "\x04 in a new form");
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  auto store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kUnsupported) << store.error().message;
  EXPECT_THAT(store.error().message, HasSubstr("batch 2 of the log"));
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
  EXPECT_THAT(store.error().message, HasSubstr("'moods'"));
}

}  // namespace
}  // namespace fieldcost::store
