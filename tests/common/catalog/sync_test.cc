#include "common/catalog/sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/catalog/catalog.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"

namespace fieldcost::catalog {
namespace {

using std::chrono::hours;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MakeRows;

constexpr WallTime kNow{hours(24 * 20'000)};
constexpr hours kDay{24};

class SyncTest : public ::testing::Test {
 protected:
  Result<SyncReport> SyncNow(bool full, const std::string& wanted_api = "") {
    SyncOptions options = publisher_.Client(directory_.path());
    options.full = full;
    options.wanted_api = wanted_api;
    return Sync(options, clock_);
  }

  void ExpectRefused(ErrorCode code, const std::string& why) {
    const auto report = SyncNow(true);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, code) << report.error().message;
    EXPECT_THAT(report.error().message, HasSubstr(why));
  }

  // Sum of the cost of function_<i>, whose row has i + 1 calls; 0 if it is not there.
  std::uint64_t SumOf(unsigned i) {
    auto catalog = Catalog::Open(directory_.path() / "catalog.db");
    if (!catalog) return 0;
    const auto rows = catalog->Find("function_" + std::to_string(i), "");
    if (!rows || rows->empty()) return 0;
    EXPECT_EQ(rows->size(), 1U);
    return stats::Low64((*rows)[0].histogram.sum());
  }

  Freshness Fresh() {
    auto catalog = Catalog::Open(directory_.path() / "catalog.db");
    return catalog ? *catalog->GetFreshness() : Freshness{};
  }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
};

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

TEST_F(SyncTest, NothingIsFetchedTwiceOnOneDay) {
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

TEST_F(SyncTest, AWantedApiThatIsNoNameIsAnInvalidArgument) {
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

TEST_F(SyncTest, ASecondSyncBesideARunningOneIsToldSo) {
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

TEST_F(SyncTest, RollbackOfTheTimestampIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string old_timestamp = publisher_.Get(wire::kTimestampPath);
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  publisher_.Set(wire::kTimestampPath, old_timestamp);
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
  EXPECT_EQ(SumOf(0), 2000U);
}

TEST_F(SyncTest, RollbackOfTheSnapshotUnderANewTimestampIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  publisher_.snapshot.version = 1;
  publisher_.ServeSnapshot();
  publisher_.timestamp.version += 1;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
  EXPECT_EQ(Fresh().snapshot_version, 2U);
}

TEST_F(SyncTest, FreezeAtAnExpiredTimestampIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  clock_.Advance(kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "timestamp metadata expired");
}

TEST_F(SyncTest, FreezeAtAnExpiredSnapshotIsRefusedKnownOrNot) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.timestamp.expires = kNow + 30 * kDay;
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  clock_.Advance(8 * kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "snapshot metadata expired");
  EXPECT_EQ(Fresh().row_count, 0U);
  clock_.Advance(-8 * kDay);
  ASSERT_TRUE(SyncNow(true).has_value());
  clock_.Advance(8 * kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "snapshot metadata expired");
}

TEST_F(SyncTest, AnExpiredRootIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  clock_.Advance(366 * kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "root metadata expired");
}

TEST_F(SyncTest, ASnapshotThatTheTimestampDoesNotNameIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string first =
      publisher_.Get(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256));
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  publisher_.Set(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), first);
  ExpectRefused(ErrorCode::kUnauthenticated, "mix-and-match");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncTest, ASnapshotOfAnotherVersionThanTheTimestampSaysIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.timestamp.snapshot_version += 1;
  publisher_.timestamp.version += 1;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kUnauthenticated, "mix-and-match");
}

TEST_F(SyncTest, AFragmentOfAnotherEpochIsRefusedAndNothingOfItIsStored) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string old_fragment =
      publisher_.Get(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256));
  publisher_.Publish(MakeRows(10, 2000), 0, kNow);
  publisher_.Set(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256), old_fragment);
  ExpectRefused(ErrorCode::kUnauthenticated, "not the one that the snapshot names");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncTest, ATruncatedFragmentIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string path = wire::FragmentPath(publisher_.snapshot.fragments[0].sha256);
  const std::string whole = publisher_.Get(path);
  publisher_.Set(path, whole.substr(0, whole.size() - 1));
  ExpectRefused(ErrorCode::kUnauthenticated, "not the one that the snapshot names");
  EXPECT_EQ(Fresh().row_count, 0U);
  publisher_.Set(path, whole);
  EXPECT_TRUE(SyncNow(true).has_value());
}

TEST_F(SyncTest, AnEndlessFragmentIsCutOff) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  publisher_.Set(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256),
                 std::string(20 * kMiB, 'x'));
  ExpectRefused(ErrorCode::kTooLarge, "fragment 0");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncTest, ASignedFragmentThatHoldsAnApiOfAnotherFragmentIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 2, kNow);
  std::swap(publisher_.snapshot.fragments[0], publisher_.snapshot.fragments[1]);
  publisher_.ServeSnapshot();
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kCorrupt, "belongs to another fragment");
}

TEST_F(SyncTest, ASignedFragmentThatIsNoFragmentIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string garbage = "not a fragment";
  publisher_.snapshot.fragments[0].sha256 = crypto::Sha256(garbage);
  publisher_.snapshot.fragments[0].size_bytes = garbage.size();
  publisher_.Set(wire::FragmentPath(crypto::Sha256(garbage)), garbage);
  publisher_.ServeSnapshot();
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kCorrupt, "fragment 0");
}

TEST_F(SyncTest, MetadataSignedByAKeyTheRootDoesNotNameIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const crypto::PrivateKey foreign = crypto::PrivateKey::Generate();
  publisher_.Set(wire::kTimestampPath, wire::SignTimestamp(publisher_.timestamp, foreign));
  ExpectRefused(ErrorCode::kUnauthenticated, "timestamp metadata");
  const std::string snapshot = wire::SignSnapshot(publisher_.snapshot, foreign);
  publisher_.timestamp.snapshot_sha256 = crypto::Sha256(snapshot);
  publisher_.timestamp.snapshot_bytes = snapshot.size();
  publisher_.Set(wire::SnapshotPath(crypto::Sha256(snapshot)), snapshot);
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kUnauthenticated, "snapshot metadata");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncTest, KeysAreReplacedThroughARootThatOldAndNewKeysSign) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  const crypto::PrivateKey new_root_key = crypto::PrivateKey::Generate();
  wire::RootMetadata next = publisher_.root;
  next.version = 2;
  next.root_keys = {new_root_key.public_key()};
  publisher_.PublishRoot(next, {publisher_.root_key, new_root_key});
  next.version = 3;
  publisher_.PublishRoot(next, {new_root_key});
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  const auto report = SyncNow(true);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(SumOf(0), 2000U);
  EXPECT_THAT(publisher_.TakeRequests(), Contains(wire::RootVersionPath(3)));
}

TEST_F(SyncTest, ARootThatOldKeysOrNewKeysDidNotSignIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  const crypto::PrivateKey new_root_key = crypto::PrivateKey::Generate();
  wire::RootMetadata next = publisher_.root;
  next.version = 2;
  next.root_keys = {new_root_key.public_key()};
  publisher_.PublishRoot(next, {new_root_key});
  ExpectRefused(ErrorCode::kUnauthenticated, "against the trusted root's keys");
  publisher_.PublishRoot(next, {publisher_.root_key});
  ExpectRefused(ErrorCode::kUnauthenticated, "against its own keys");
}

TEST_F(SyncTest, ARootOfAnotherVersionThanItsPlaceIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.Set(wire::RootVersionPath(2), publisher_.Get(wire::RootVersionPath(1)));
  ExpectRefused(ErrorCode::kUnauthenticated, "says it is version 1");
}

TEST_F(SyncTest, ReplacingACompromisedSnapshotKeyUndoesAFastForward) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.snapshot.version = 1'000'000;
  publisher_.Publish(MakeRows(10, 6666), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  const crypto::PrivateKey new_key = crypto::PrivateKey::Generate();
  wire::RootMetadata next = publisher_.root;
  next.version = 2;
  next.snapshot_keys = {new_key.public_key()};
  publisher_.PublishRoot(next, {publisher_.root_key});
  publisher_.snapshot.version = 2;
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  const std::string bytes = wire::SignSnapshot(publisher_.snapshot, new_key);
  publisher_.timestamp.snapshot_sha256 = crypto::Sha256(bytes);
  publisher_.timestamp.snapshot_bytes = bytes.size();
  publisher_.Set(wire::SnapshotPath(crypto::Sha256(bytes)), bytes);
  publisher_.ServeTimestamp();
  const auto report = SyncNow(true);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(SumOf(0), 2000U);
}

TEST_F(SyncTest, APinnedRootOfAnotherServerRefusesEverything) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const testing::Publisher other(kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.root_file = other.Client(directory_.path()).root_file;
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnauthenticated);
}

TEST_F(SyncTest, AMissingPinnedRootIsNamed) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.root_file = directory_.path() / "no-such-root";
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(report.error().message, HasSubstr("no-such-root"));
}

TEST_F(SyncTest, AnUnreachableServerIsUnavailableAndTheOldCatalogueStays) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  SyncOptions options = publisher_.Client(directory_.path());
  options.full = true;
  options.server.url = "https://localhost:1";
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(SumOf(9), 10'000U);
}

}  // namespace
}  // namespace fieldcost::catalog
