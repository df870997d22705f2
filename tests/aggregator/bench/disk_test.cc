#include "aggregator/bench/disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "tests/support/temp_dir.h"

namespace fieldcost::bench {
namespace {

using ::testing::HasSubstr;

std::vector<double> UpTo(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.rbegin(), values.rend(), 0.0);
  return values;
}

TEST(BenchDiskTest, PercentilesAreThoseOfTheOrderedValues) {
  std::vector<double> one = {7};
  for (const double percent : {0.0, 50.0, 99.9, 100.0}) EXPECT_EQ(Percentile(one, percent), 7);
  std::vector<double> thousand = UpTo(1000);
  EXPECT_EQ(Percentile(thousand, 0), 0);
  EXPECT_EQ(Percentile(thousand, 50), 500);
  EXPECT_EQ(Percentile(thousand, 100), 999);
  const Quantiles quantiles = QuantilesOf(UpTo(1000));
  EXPECT_EQ(quantiles.p50_ms, 500);
  EXPECT_EQ(quantiles.p99_ms, 990);
  EXPECT_EQ(quantiles.p999_ms, 999);
}

TEST(BenchDiskTest, SyncsAreMeasuredAndTheirFileIsRemoved) {
  const testing::TempDir dir;
  for (const SyncCall call : {SyncCall::kFsync, SyncCall::kFdatasync}) {
    std::uint64_t calls = 0;
    const auto times = MeasureSyncs(dir.path(), call, 5, [&](std::uint64_t done) {
      EXPECT_EQ(done, calls++);
      return true;
    });
    ASSERT_TRUE(times.has_value()) << times.error().message;
    EXPECT_EQ(calls, 5U);
    EXPECT_GT(times->p50_ms, 0);
    EXPECT_LE(times->p50_ms, times->p99_ms);
    EXPECT_LE(times->p99_ms, times->p999_ms);
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  }
}

TEST(BenchDiskTest, TheFileOfManySyncsStaysSmall) {
  const testing::TempDir dir;
  std::uint64_t greatest = 0;
  const std::uint64_t count = kMaxSyncFileBytes / kSyncedBytes + 2;
  const auto times = MeasureSyncs(dir.path(), SyncCall::kFdatasync, count, [&](std::uint64_t) {
    std::error_code missing;
    const std::uint64_t size = std::filesystem::file_size(dir.path() / "sync", missing);
    if (!missing) greatest = std::max(greatest, size);
    return true;
  });
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(greatest, kMaxSyncFileBytes);
}

TEST(BenchDiskTest, WritingIsMeasuredAndItsFileIsRemoved) {
  const testing::TempDir dir;
  std::uint64_t written = 0;
  const auto rate = MeasureWriting(dir.path(), 3, [&](std::uint64_t done) {
    if (done == 2) written = std::filesystem::file_size(dir.path() / "sequential");
    return true;
  });
  ASSERT_TRUE(rate.has_value()) << rate.error().message;
  EXPECT_GT(*rate, 0);
  EXPECT_EQ(written, 2 * kMiB);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(BenchDiskTest, AStoppedMeasurementLeavesNothing) {
  const testing::TempDir dir;
  const auto stop = [](std::uint64_t done) { return done < 2; };
  const auto syncs = MeasureSyncs(dir.path(), SyncCall::kFsync, 100, stop);
  ASSERT_FALSE(syncs.has_value());
  EXPECT_EQ(syncs.error().code, ErrorCode::kUnavailable);
  const auto writing = MeasureWriting(dir.path(), 100, stop);
  ASSERT_FALSE(writing.has_value());
  EXPECT_EQ(writing.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(BenchDiskTest, ErrorsNameTheFile) {
  const testing::TempDir dir;
  const auto nowhere = MeasureSyncs(dir.path() / "nowhere", SyncCall::kFsync, 1);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(nowhere.error().message, HasSubstr("nowhere/sync"));
  EXPECT_EQ(MeasureWriting(dir.path() / "nowhere", 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(IsInMemory(dir.path() / "nowhere").error().code, ErrorCode::kNotFound);
}

TEST(BenchDiskTest, RecognisesFileSystemsInMemory) {
  EXPECT_TRUE(IsInMemory(testing::kMemory).value());
  EXPECT_FALSE(IsInMemory("/proc").value());
}

}  // namespace
}  // namespace fieldcost::bench
