#include "aggregator/store/log_scan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "aggregator/store/database.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using testing::TempDir;

LogScan Scan(std::string_view log, const LogScanner::Visitor& visit = {}) {
  LogScanner scanner(visit);
  for (; log.size() > kLogBlockBytes; log.remove_prefix(kLogBlockBytes)) {
    scanner.Take(log.substr(0, kLogBlockBytes));
  }
  scanner.Take(log);
  return scanner.result();
}

// A log written by the engine itself: small records, and some that span several blocks.
class EngineLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database = Database::Open(
        {.directory = dir_.path(), .write_buffer_bytes = 64 * kMiB, .block_cache_bytes = kMiB});
    ASSERT_TRUE(database.has_value());
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < kRecords; ++i) {
      std::string value(i % 7 == 5 ? 50'000 + random() % 50'000 : random() % 2'000, '\0');
      for (char& c : value) c = static_cast<char>(random());
      Database::WriteSet changes(**database);
      changes.Put(Table::kBatches, std::to_string(i), value);
      ASSERT_TRUE((*database)->Write(changes).has_value());
    }
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      if (entry.path().extension() != ".log") continue;
      log_ = ReadFile(entry.path(), 64 * kMiB).value();
      marks_ = ReadFile(entry.path().string() + ".synced", kMiB).value();
    }
    whole_ = Scan(log_, [this](const LogRecord& record) { starts_.push_back(record.offset); });
  }

  // Returns the start of the record that contains this byte.
  std::uint64_t StartOf(std::size_t at) const {
    std::uint64_t start = 0;
    for (const std::uint64_t one : starts_) start = one <= at ? one : start;
    return start;
  }

  static constexpr unsigned kRecords = 40;
  const TempDir dir_;
  std::string log_;
  std::string marks_;
  std::vector<std::uint64_t> starts_;
  LogScan whole_;
};

TEST_F(EngineLogTest, ItIsWholeAndAllOfItIsMarkedAsSynced) {
  EXPECT_EQ(starts_.size(), kRecords);
  EXPECT_EQ(whole_.size, log_.size());
  EXPECT_TRUE(whole_.is_whole());
  EXPECT_FALSE(whole_.goes_on_at.has_value());
  EXPECT_EQ(ReadMarks(marks_), (SyncedMark{.bytes = log_.size()}));
  EXPECT_EQ(marks_.size(), kRecords * kMarkBytes);
}

TEST_F(EngineLogTest, TruncatedAnywhereItEndsAfterAWholeRecord) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = random() % log_.size();
    const LogScan scan = Scan(std::string_view(log_).substr(0, size));
    EXPECT_LE(scan.whole_bytes, size);
    EXPECT_FALSE(scan.goes_on_at.has_value()) << size;
    EXPECT_TRUE(Scan(std::string_view(log_).substr(0, scan.whole_bytes)).is_whole());
  }
}

TEST_F(EngineLogTest, AFlippedBitIsBeforeRecordsThatAreWholeUnlessItIsInTheLast) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = log_;
    const std::size_t at = random() % damaged.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const LogScan scan = Scan(damaged);
    if (scan.is_whole()) continue;  // the unused bytes at the end of a block
    EXPECT_LE(scan.whole_bytes, at);
    const std::uint64_t start = StartOf(at);
    EXPECT_EQ(scan.goes_on_at.has_value(), start != starts_.back()) << at;
    EXPECT_GT(scan.goes_on_at.value_or(log_.size()), start);
  }
}

TEST_F(EngineLogTest, ReadsRecordsAfterTheDamage) {
  std::string damaged = log_;
  damaged[starts_[3] + 20] ^= 1;
  std::vector<std::uint64_t> before;
  std::vector<std::uint64_t> after;
  Scan(damaged, [&](const LogRecord& record) {
    (record.after_damage ? after : before).push_back(record.offset);
  });
  EXPECT_EQ(before, std::vector<std::uint64_t>(starts_.begin(), starts_.begin() + 3));
  EXPECT_EQ(after, std::vector<std::uint64_t>(starts_.begin() + 4, starts_.end()));
}

TEST_F(EngineLogTest, IgnoresLaterPartsOfTornRecordsAndOldDiskContents) {
  // Takes the last record that spans several blocks; a crash has lost only its first block.
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
    if (starts_[i + 1] - starts_[i] > kLogBlockBytes) last = i;
  }
  ASSERT_NE(last, 0U);
  std::string torn = log_.substr(0, starts_[last + 1]);
  const std::size_t block_end = (starts_[last] / kLogBlockBytes + 1) * kLogBlockBytes;
  std::fill(torn.begin() + static_cast<std::ptrdiff_t>(starts_[last]),
            torn.begin() + static_cast<std::ptrdiff_t>(block_end), '\0');
  LogScan scan = Scan(torn);
  EXPECT_LE(scan.whole_bytes, starts_[last]);
  EXPECT_FALSE(scan.is_whole());
  EXPECT_FALSE(scan.goes_on_at.has_value());
  // A whole record, but left over from earlier use of the disk.
  torn = log_.substr(0, starts_[9]) + std::string(100, '\0') +
         log_.substr(starts_[1], starts_[2] - starts_[1]);
  scan = Scan(torn);
  EXPECT_FALSE(scan.is_whole());
  EXPECT_FALSE(scan.goes_on_at.has_value());
}

TEST(LogScanTest, AnythingIsALogThatEndsSomewhere) {
  std::mt19937_64 random(4);
  EXPECT_TRUE(Scan("").is_whole());
  for (int i = 0; i < 50; ++i) {
    std::string bytes(random() % 70'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % (i % 2 == 0 ? 256 : 4));
    EXPECT_EQ(Scan(bytes).size, bytes.size());
    EXPECT_EQ(Scan(bytes).whole_bytes, 0U);
  }
}

TEST(SyncedMarkTest, TheNewestWholeOneCounts) {
  const std::string mark = EncodeMark({.bytes = 300});
  EXPECT_EQ(mark, std::string("\0\0\0\0\0\0\x01\x2c\xf2\x74\x6b\xf3", kMarkBytes));
  EXPECT_EQ(ReadMarks(mark), (SyncedMark{.bytes = 300}));
  const std::string more = mark + EncodeMark({.bytes = 500});
  EXPECT_EQ(ReadMarks(more).bytes, 500U);
  EXPECT_EQ(ReadMarks(more.substr(0, more.size() - 1)).bytes, 300U);
  EXPECT_EQ(ReadMarks("").bytes, 0U);
  EXPECT_EQ(ReadMarks(std::string(5 * kMarkBytes, '\0')).bytes, 0U);
  // Marks in the middle that were never written are skipped.
  EXPECT_EQ(ReadMarks(std::string(kMarkBytes, '\0') + more).bytes, 500U);
  const SyncedMark retired = ReadMarks(more + EncodeMark({.retired = true}));
  EXPECT_TRUE(retired.retired);
  EXPECT_EQ(retired.bytes, 500U);
  for (std::size_t bit = 0; bit < 8 * kMarkBytes; ++bit) {
    std::string damaged = mark;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(ReadMarks(damaged), SyncedMark()) << bit;
  }
}

}  // namespace
}  // namespace fieldcost::store
