#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "aggregator/store/database.h"
#include "aggregator/store/store_row_codec.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using Entries = std::map<std::string, std::string>;

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

std::unique_ptr<Database> MustOpen(const TempDir& dir) {
  auto database = Database::Open({.directory = dir.path() / "store",
                                  .write_buffer_bytes = kBufferBytes,
                                  .block_cache_bytes = kBufferBytes});
  EXPECT_TRUE(database.has_value()) << database.error().message;
  return std::move(*database);
}

std::string KeyOf(unsigned number) { return fmt::format("key {:06}", number); }

void Adopt(Database& database, const Entries& entries) {
  Database::SortedSet changes(database);
  for (const auto& [key, value] : entries) {
    ASSERT_TRUE(changes.Put(Table::kRows, key, value).has_value());
  }
  ASSERT_TRUE(database.Adopt(changes).has_value());
}

Entries Read(const Database& database, std::string_view begin = "", std::string_view end = "",
             const Database::View* view = nullptr) {
  Entries entries;
  const auto status = database.ForEach(
      Table::kRows, begin, view,
      [&](std::string_view key, std::string_view value) -> Status {
        entries.emplace(key, value);
        return {};
      },
      end);
  EXPECT_TRUE(status.has_value());
  return entries;
}

std::size_t FilesLeft(const TempDir& dir) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / "store")) {
    count += entry.path().filename().string().starts_with("checkpoint.") ? 1 : 0;
  }
  return count;
}

TEST(SortedSetTest, ChangesOfAllTablesAppearAtOnceWhenAdopted) {
  const TempDir dir;
  {
    const auto database = MustOpen(dir);
    Adopt(*database, {{"a", "old"}, {"b", "old"}, {"c", "old"}});
    const auto before = database->Freeze();
    {
      Database::SortedSet changes(*database);
      ASSERT_TRUE(changes.Put(Table::kRows, "a", "new").has_value());
      ASSERT_TRUE(changes.Put(Table::kProgress, "n", "1").has_value());
      ASSERT_TRUE(changes.Delete(Table::kRows, "b").has_value());
      EXPECT_EQ(Read(*database).at("a"), "old");
      ASSERT_TRUE(database->Adopt(changes).has_value());
    }
    EXPECT_EQ(Read(*database, "", "", before.get()).size(), 3U);
  }
  const auto database = MustOpen(dir);
  EXPECT_EQ(Read(*database), (Entries{{"a", "new"}, {"c", "old"}}));
  EXPECT_EQ(database->Get(Table::kProgress, "n").value(), "1");
  EXPECT_EQ(FilesLeft(dir), 0U);
}

TEST(SortedSetTest, SeveralSetsAreAdoptedInOneStep) {
  const TempDir dir;
  const auto database = MustOpen(dir);
  Adopt(*database, {{"a", "old"}, {"c", "old"}});
  {
    Database::SortedSet first(*database);
    Database::SortedSet without_changes(*database);
    Database::SortedSet second(*database);
    // Written alternately, as by two threads.
    ASSERT_TRUE(second.Put(Table::kRows, "c", "new").has_value());
    ASSERT_TRUE(first.Put(Table::kRows, "a", "new").has_value());
    ASSERT_TRUE(second.Put(Table::kProgress, "n", "1").has_value());
    ASSERT_TRUE(first.Put(Table::kRows, "b", "new").has_value());
    const std::array<Database::SortedSet*, 3> sets = {&first, &without_changes, &second};
    ASSERT_TRUE(database->Adopt(sets).has_value());
  }
  EXPECT_EQ(Read(*database), (Entries{{"a", "new"}, {"b", "new"}, {"c", "new"}}));
  EXPECT_EQ(database->Get(Table::kProgress, "n").value(), "1");
  EXPECT_EQ(FilesLeft(dir), 0U);
}

TEST(SortedSetTest, ACursorReadsARangeOfOneMoment) {
  const TempDir dir;
  const auto database = MustOpen(dir);
  Adopt(*database, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
  const auto view = database->Freeze();
  Adopt(*database, {{"bb", "5"}});
  const auto read = [&](const Database::View* moment, const std::string& begin,
                        const std::string& end) {
    Entries entries;
    Database::Cursor cursor(*database, Table::kRows, moment, begin, end);
    while (cursor.Next().value()) entries.emplace(cursor.key(), cursor.value());
    EXPECT_FALSE(cursor.Next().value()) << "it stays at the end";
    return entries;
  };
  EXPECT_EQ(read(view.get(), "b", "d"), (Entries{{"b", "2"}, {"c", "3"}}));
  EXPECT_EQ(read(nullptr, "b", "c"), (Entries{{"b", "2"}, {"bb", "5"}}));
  EXPECT_EQ(read(nullptr, "c", ""), (Entries{{"c", "3"}, {"d", "4"}}));
  EXPECT_EQ(read(nullptr, "e", ""), Entries());
}

TEST(SortedSetTest, UnadoptedChangesLeaveNoFiles) {
  const TempDir dir;
  const auto database = MustOpen(dir);
  {
    Database::SortedSet changes(*database);
    ASSERT_TRUE(changes.Put(Table::kRows, "a", "never").has_value());
    EXPECT_EQ(FilesLeft(dir), 1U);
  }
  EXPECT_EQ(FilesLeft(dir), 0U);
  EXPECT_TRUE(Read(*database).empty());
}

TEST(SortedSetTest, FilesThatAKilledProcessHasLeftGoWhenTheStoreIsOpened) {
  const TempDir dir;
  MustOpen(dir);
  std::ofstream(dir.path() / "store" / "checkpoint.3") << "half a file";
  const auto database = MustOpen(dir);
  EXPECT_EQ(FilesLeft(dir), 0U);
  Adopt(*database, {{"a", "1"}});
  EXPECT_EQ(Read(*database).size(), 1U);
}

TEST(LookupTest, FindsInAscendingOrderExactlyWhatGetFinds) {
  const TempDir dir;
  const auto database = MustOpen(dir);
  std::mt19937 random(1);
  Entries entries;
  for (unsigned i = 0; i < 3'000; ++i)
    entries[KeyOf(static_cast<unsigned>(random() % 100'000))] = std::to_string(i);
  Adopt(*database, entries);
  Database::Lookup lookup(*database, Table::kRows, nullptr);
  unsigned found = 0;
  // Look up close keys, distant keys, and some after the last.
  for (unsigned number = 0; number < 101'000;
       number += 1 + static_cast<unsigned>(random() % (number < 30'000 ? 3 : 200))) {
    const auto value = lookup.Find(KeyOf(number));
    ASSERT_TRUE(value.has_value());
    const auto expected = entries.find(KeyOf(number));
    ASSERT_EQ(value->has_value(), expected != entries.end());
    if (!value->has_value()) continue;
    ASSERT_EQ(**value, expected->second);
    ++found;
  }
  EXPECT_GT(found, 100U);
}

TEST(SnapshotTest, RangesHaveEveryRowOnceAndAllRowsOfAnApi) {
  const TempDir dir;
  auto store = Store::Open({.data_dir = dir.path() / "data", .checkpoint_seconds = 0});
  ASSERT_TRUE(store.has_value());
  // One checkpoint per batch makes as many files, which must still be split into parts.
  TestBatch batch;
  for (std::uint64_t sequence = 1; sequence <= 12; ++sequence) {
    MakeTestBatch(1, sequence, batch, nullptr);
    ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
    ASSERT_TRUE((*store)->Checkpoint().has_value());
  }
  const auto snapshot = (*store)->TakeSnapshot();
  ASSERT_TRUE(snapshot.has_value());
  const Sums all = AllRows(**store);
  std::size_t most = 0;
  for (const std::size_t parts : {1, 2, 3, 5}) {
    const auto ranges = snapshot->Split(parts);
    ASSERT_LE(ranges.size(), parts);
    most = std::max(most, ranges.size());
    std::vector<stats::RowKey> keys;
    for (const auto& range : ranges) {
      const std::size_t first = keys.size();
      const auto add = [&](const stats::RowKey& key, const CompactRow&) -> Status {
        keys.push_back(key);
        return {};
      };
      ASSERT_TRUE(snapshot->ForEach(add, range).has_value());
      if (first != 0 && first < keys.size()) {
        EXPECT_NE(keys[first].api, keys[first - 1].api);
      }
    }
    ASSERT_EQ(keys.size(), all.size());
    std::size_t at = 0;
    for (const auto& [key, row] : all) ASSERT_EQ(keys[at++], key);
  }
  EXPECT_GT(most, 1U);
}

}  // namespace
}  // namespace fieldcost::store
