#include "common/catalog/catalog_sync.h"

#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using std::chrono::hours;
using testing::MakeRows;

TEST_F(SyncTest, AFullSyncFetchesEveryFragmentOnce) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  std::vector<std::uint32_t> progress;
  SyncOptions options = publisher_.Client(directory_.path());
  options.full = true;
  options.progress = [&](std::uint32_t done, std::uint32_t total) {
    EXPECT_EQ(total, 16U);
    progress.push_back(done);
  };
  const auto report = Sync(options, clock_);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->snapshot_version, 1U);
  EXPECT_EQ(report->fragments_fetched, 16U);
  EXPECT_EQ(report->fragments_stale, 0U);
  EXPECT_GT(report->bytes_fetched, 0U);
  EXPECT_EQ(progress.size(), 16U);
  EXPECT_EQ(progress.back(), 16U);
  EXPECT_EQ(Fresh().row_count, 100U);
  EXPECT_EQ(SumOf(41), 42'000U);
}

TEST_F(SyncTest, AServerThatHasPublishedNothingIsNotAnError404) {
  publisher_.Publish(MakeRows(10, 1000), 2, kNow);
  publisher_.Remove(wire::kTimestampPath);
  const auto report = SyncNow(true);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_NE(report.error().message.find(" has published nothing yet"), std::string::npos)
      << report.error().message;
  EXPECT_EQ(report.error().message.find("/v1/"), std::string::npos) << report.error().message;
}

TEST_F(SyncTest, UnchangedFragmentsAreNotFetchedAgain) {
  std::vector<stats::StatRow> rows = MakeRows(100, 1000);
  publisher_.Publish(rows, 4, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 16U);
  rows[7] = testing::MakeRow("lib2.so.1", "function_7", 8, 2000);
  publisher_.Publish(rows, 4, kNow);
  const auto report = SyncNow(true);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->fragments_fetched, 1U);
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 1U);
  EXPECT_EQ(SumOf(7), 16'000U);
  EXPECT_EQ(SumOf(8), 9'000U);
}

TEST_F(SyncTest, AnApiThatIsNoLongerPublishedDisappears) {
  std::vector<stats::StatRow> rows = MakeRows(20, 1000);
  publisher_.Publish(rows, 2, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  rows.pop_back();
  publisher_.Publish(rows, 2, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  EXPECT_EQ(SumOf(19), 0U);
  EXPECT_EQ(Fresh().row_count, 19U);
}

TEST_F(SyncTest, DailySharesCycleThroughEverythingInAWeekThoughAllChangesDaily) {
  std::vector<unsigned> fetched_per_day;
  for (unsigned day = 0; day < 7; ++day) {
    publisher_.Publish(MakeRows(200, 1000 + day), 4, clock_.Now());
    const auto report = SyncNow(false);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    fetched_per_day.push_back(report->fragments_fetched);
    clock_.Advance(kDay);
  }
  EXPECT_THAT(fetched_per_day, ::testing::Each(3U));  // a seventh of 16, rounded up
  EXPECT_EQ(Fresh().fragments_present, 16U);
  for (unsigned i = 0; i < 200; ++i) EXPECT_GE(SumOf(i), (i + 1) * 1000) << i;
}

TEST_F(SyncTest, AWeekWithoutChangesLeavesNothingStale) {
  publisher_.Publish(MakeRows(200, 1000), 5, kNow);
  for (unsigned day = 0; day < 7; ++day) {
    publisher_.timestamp.expires = clock_.Now() + kDay;
    ++publisher_.timestamp.version;
    publisher_.ServeTimestamp();
    ASSERT_TRUE(SyncNow(false).has_value());
    clock_.Advance(kDay);
  }
  EXPECT_EQ(Fresh().fragments_current, 32U);
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 32U);
}

TEST_F(SyncTest, FetchesNothingTwiceOnOneDay) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  ASSERT_TRUE(SyncNow(false).has_value());
  publisher_.TakeRequests();
  clock_.Advance(hours(1));
  const auto report = SyncNow(false);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->already_done_today);
  EXPECT_EQ(report->fragments_stale, 13U);
  EXPECT_TRUE(publisher_.TakeRequests().empty());
}

TEST_F(SyncTest, AWantedApiIsFetchedAtOnceEvenIfTodaysShareIsDone) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  ASSERT_TRUE(SyncNow(false).has_value());
  unsigned missing = 0;
  while (SumOf(missing) != 0) ++missing;
  const auto report = SyncNow(
      false, "lib" + std::to_string(missing % 5) + ".so.1!function_" + std::to_string(missing));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->fragments_fetched, 1U);
  EXPECT_EQ(SumOf(missing), (missing + 1) * 1000U);
}

TEST_F(SyncTest, RefusesInvalidNamesOfWantedApis) {
  publisher_.Publish(MakeRows(10, 1000), 2, kNow);
  const auto report = SyncNow(false, "function_3");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SyncTest, AnInterruptedSyncResumesWhereItStopped) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  publisher_.FailAfterFragments(5);
  ExpectRefused(ErrorCode::kUnavailable, "503");
  EXPECT_EQ(Fresh().fragments_current, 5U);
  publisher_.FailAfterFragments(-1);
  publisher_.TakeRequests();
  const auto report = SyncNow(true);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->fragments_fetched, 11U);
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 11U);
  EXPECT_EQ(Fresh().fragments_current, 16U);
}

TEST_F(SyncTest, AnInterruptedShareIsCompletedAndNotRepeatedOnTheSameDay) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  publisher_.FailAfterFragments(2);
  ASSERT_FALSE(SyncNow(false).has_value());
  publisher_.FailAfterFragments(-1);
  const auto report = SyncNow(false);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->fragments_fetched, 1U);
  EXPECT_EQ(Fresh().fragments_current, 3U);
}

TEST_F(SyncTest, AnotherNumberOfFragmentsKeepsOldRowsUntilNewOnesArrive) {
  publisher_.Publish(MakeRows(100, 1000), 2, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  publisher_.Publish(MakeRows(100, 3000), 4, kNow);
  publisher_.FailAfterFragments(6);
  ASSERT_FALSE(SyncNow(true).has_value());
  unsigned old_rows = 0;
  unsigned new_rows = 0;
  for (unsigned i = 0; i < 100; ++i) {
    if (SumOf(i) == (i + 1) * 1000U) ++old_rows;
    if (SumOf(i) == (i + 1) * 3000U) ++new_rows;
  }
  EXPECT_EQ(old_rows + new_rows, 100U);
  EXPECT_GT(new_rows, 0U);
  EXPECT_GT(old_rows, 0U);
  publisher_.FailAfterFragments(-1);
  publisher_.Publish(MakeRows(100, 7000), 1, kNow);  // and fewer fragments again
  ASSERT_TRUE(SyncNow(true).has_value());
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(SumOf(i), (i + 1) * 7000U);
  EXPECT_EQ(Fresh().row_count, 100U);
}

TEST_F(SyncTest, TheSyntheticMarkReachesTheReader) {
  publisher_.snapshot.synthetic = true;
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  EXPECT_TRUE(Fresh().synthetic);
}

TEST_F(SyncTest, ASecondSyncReportsTheRunningOne) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.full = true;
  unsigned refused = 0;
  options.progress = [&](std::uint32_t, std::uint32_t) {
    const auto second = SyncNow(true);
    if (!second && second.error().code == ErrorCode::kUnavailable) ++refused;
  };
  ASSERT_TRUE(Sync(options, clock_).has_value());
  EXPECT_EQ(refused, 2U);
}

}  // namespace
}  // namespace fieldcost::catalog
