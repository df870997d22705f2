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
  publisher_.Publish(MakeRows(200, 10), 4, clock_.Now());
  ASSERT_TRUE(SyncNow(false).has_value());
  for (unsigned day = 0; day < 7; ++day) {
    clock_.Advance(kDay);
    publisher_.Publish(MakeRows(200, 1000 + day), 4, clock_.Now());
    const auto report = SyncNow(false);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    fetched_per_day.push_back(report->fragments_fetched);
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
  FetchThenPublishAgain();
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
  FetchThenPublishAgain();
  ASSERT_TRUE(SyncNow(false).has_value());
  unsigned missing = 0;
  while (SumOf(missing) == (missing + 1) * 1000U) ++missing;
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

TEST_F(SyncTest, TheFirstSyncIsCompleteEvenAfterAnInterruption) {
  publisher_.Publish(MakeRows(100, 1000), 4, kNow);
  publisher_.FailAfterFragments(5);
  ASSERT_FALSE(SyncNow(false).has_value());
  EXPECT_EQ(Fresh().fragments_present, 5U);
  EXPECT_FALSE(Fresh().is_complete);
  publisher_.FailAfterFragments(-1);
  publisher_.TakeRequests();
  ASSERT_TRUE(SyncNow(false).has_value());
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 11U);
  EXPECT_TRUE(Fresh().is_complete);
  // Another division into fragments takes nothing away.
  clock_.Advance(kDay);
  publisher_.Publish(MakeRows(100, 3000), 5, clock_.Now());
  const auto report = SyncNow(false);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->fragments_fetched, 5U);
  EXPECT_TRUE(Fresh().is_complete);
}

TEST_F(SyncTest, AnInterruptedShareIsCompletedAndNotRepeatedOnTheSameDay) {
  FetchThenPublishAgain();
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

class RefreshTest : public SyncTest {
 protected:
  Result<SyncReport> Refresh() {
    SyncOptions options = publisher_.Client(directory_.path());
    options.automatic = true;
    return Sync(options, clock_);
  }
  WallTime Next() {
    const auto next = NextRefresh(directory_.path() / "catalog.db", clock_.Now());
    EXPECT_TRUE(next) << next.error().message;
    return next.value_or(WallTime{});
  }
  void SleepUntil(WallTime time) { clock_.Advance(time - clock_.Now()); }
};

TEST_F(RefreshTest, FollowsTheServicesPeriodAndContactsNothingInBetween) {
  publisher_.timestamp.refresh_seconds = 6 * 3600;
  publisher_.Publish(MakeRows(20, 1000), 2, kNow);
  EXPECT_LE(Next(), kNow) << "never fetched";
  ASSERT_TRUE(Refresh().has_value());
  for (int i = 0; i < 8; ++i) {
    const WallTime next = Next();
    EXPECT_GT(next, clock_.Now() + hours(3) - std::chrono::microseconds(1));
    EXPECT_LE(next, clock_.Now() + hours(9));
    publisher_.TakeRequests();
    clock_.Advance((next - clock_.Now()) / 2);
    const auto early = Refresh();
    ASSERT_TRUE(early.has_value()) << early.error().message;
    EXPECT_TRUE(early->not_due);
    EXPECT_THAT(publisher_.TakeRequests(), ::testing::IsEmpty());
    SleepUntil(next);
    publisher_.Publish(MakeRows(20, 2000 + static_cast<unsigned>(i)), 2, next);
    const auto due = Refresh();
    ASSERT_TRUE(due.has_value()) << due.error().message;
    EXPECT_FALSE(due->not_due);
    EXPECT_THAT(publisher_.TakeRequests(), ::testing::Contains(wire::kTimestampPath));
    EXPECT_EQ(Fresh().snapshot_version, static_cast<unsigned>(i) + 2)
        << "also on a day whose share was fetched";
  }
  EXPECT_EQ(Stored().state.period, hours(6));
}

TEST_F(RefreshTest, FailuresAreRecordedAndBackOff) {
  publisher_.Publish(MakeRows(20, 1000), 2, kNow);
  ASSERT_TRUE(Refresh().has_value());
  const std::string timestamp = publisher_.Get(wire::kTimestampPath);
  publisher_.Remove(wire::kTimestampPath);
  for (std::uint32_t failures = 1; failures <= 3; ++failures) {
    SleepUntil(Next());
    EXPECT_FALSE(Refresh().has_value());
    EXPECT_EQ(Stored().state.failures, failures);
    EXPECT_THAT(Stored().problem, ::testing::HasSubstr("published nothing"));
    EXPECT_GE(Next(), clock_.Now() + hours(1));
    publisher_.TakeRequests();
    EXPECT_TRUE(Refresh().has_value()) << "not due";
    EXPECT_THAT(publisher_.TakeRequests(), ::testing::IsEmpty());
  }
  publisher_.Publish(MakeRows(20, 1000), 2, Next());
  SleepUntil(Next());
  ASSERT_TRUE(Refresh().has_value());
  EXPECT_EQ(Stored().state.failures, 0U);
  EXPECT_EQ(Stored().problem, "");
}

TEST_F(RefreshTest, AnAttemptThatIsInterruptedIsNotRepeatedAtOnce) {
  publisher_.Publish(MakeRows(20, 1000), 2, kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.automatic = true;
  bool was_recorded = false;
  options.server.may_go_on = [&]() -> Status {
    was_recorded =
        was_recorded || (Stored().state.failures == 1 && Stored().problem == "interrupted");
    return {};
  };
  ASSERT_TRUE(Sync(options, clock_).has_value());
  EXPECT_TRUE(was_recorded) << "a process that is killed in the middle leaves a failure";
  EXPECT_EQ(Stored().state.failures, 0U);
}

TEST_F(RefreshTest, ASyncByHandSetsTheNextRefreshAndItsFailureDoesNotPostponeIt) {
  publisher_.Publish(MakeRows(20, 1000), 2, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  const WallTime next = Next();
  EXPECT_GE(next, kNow + hours(12));
  publisher_.Remove(wire::kTimestampPath);
  EXPECT_FALSE(SyncNow(true).has_value());
  EXPECT_EQ(Next(), next);
  EXPECT_NE(Stored().problem, "");
}

TEST_F(RefreshTest, PostponesByAnHourWithoutContactingTheServer) {
  publisher_.Publish(MakeRows(20, 1000), 2, kNow);
  ASSERT_TRUE(PostponeRefresh(directory_.path() / "catalog.db", kNow));
  EXPECT_EQ(Next(), kNow + hours(1));
  const auto report = Refresh();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->not_due);
  EXPECT_THAT(publisher_.TakeRequests(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace fieldcost::catalog
