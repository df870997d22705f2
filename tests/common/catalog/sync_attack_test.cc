#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MakeRows;

using SyncAttackTest = SyncTest;

TEST_F(SyncAttackTest, RollbackOfTheTimestampIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string old_timestamp = publisher_.Get(wire::kTimestampPath);
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  publisher_.Set(wire::kTimestampPath, old_timestamp);
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
  EXPECT_EQ(SumOf(0), 2000U);
}

TEST_F(SyncAttackTest, RollbackOfTheSnapshotUnderANewTimestampIsRefused) {
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

TEST_F(SyncAttackTest, FreezeAtAnExpiredTimestampIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true).has_value());
  clock_.Advance(kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "timestamp metadata expired");
}

TEST_F(SyncAttackTest, FreezeAtAnExpiredSnapshotIsRefusedKnownOrNot) {
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

TEST_F(SyncAttackTest, AnExpiredRootIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  clock_.Advance(366 * kDay);
  ExpectRefused(ErrorCode::kUnauthenticated, "root metadata expired");
}

TEST_F(SyncAttackTest, ASnapshotThatTheTimestampDoesNotNameIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string first =
      publisher_.Get(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256));
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  publisher_.Set(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), first);
  ExpectRefused(ErrorCode::kUnauthenticated, "mix-and-match");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncAttackTest, RefusesASnapshotOfAnotherVersionThanTheTimestamps) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.timestamp.snapshot_version += 1;
  publisher_.timestamp.version += 1;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kUnauthenticated, "mix-and-match");
}

TEST_F(SyncAttackTest, AFragmentOfAnotherEpochIsRefusedAndNothingOfItIsStored) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string old_fragment =
      publisher_.Get(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256));
  publisher_.Publish(MakeRows(10, 2000), 0, kNow);
  publisher_.Set(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256), old_fragment);
  ExpectRefused(ErrorCode::kUnauthenticated, "not the one that the snapshot names");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncAttackTest, ATruncatedFragmentIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string path = wire::FragmentPath(publisher_.snapshot.fragments[0].sha256);
  const std::string whole = publisher_.Get(path);
  publisher_.Set(path, whole.substr(0, whole.size() - 1));
  ExpectRefused(ErrorCode::kUnauthenticated, "not the one that the snapshot names");
  EXPECT_EQ(Fresh().row_count, 0U);
  publisher_.Set(path, whole);
  EXPECT_TRUE(SyncNow(true).has_value());
}

TEST_F(SyncAttackTest, AnEndlessFragmentIsCutOff) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  publisher_.Set(wire::FragmentPath(publisher_.snapshot.fragments[0].sha256),
                 std::string(20 * kMiB, 'x'));
  ExpectRefused(ErrorCode::kTooLarge, "fragment 0");
  EXPECT_EQ(Fresh().row_count, 0U);
}

TEST_F(SyncAttackTest, ASignedFragmentThatHoldsAnApiOfAnotherFragmentIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 2, kNow);
  std::swap(publisher_.snapshot.fragments[0], publisher_.snapshot.fragments[1]);
  publisher_.ServeSnapshot();
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kCorrupt, "belongs to another fragment");
}

TEST_F(SyncAttackTest, RefusesSignedContentThatIsNotAFragment) {
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

TEST_F(SyncAttackTest, MetadataSignedByAKeyTheRootDoesNotNameIsRefused) {
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

TEST_F(SyncAttackTest, KeysAreReplacedThroughARootThatOldAndNewKeysSign) {
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

TEST_F(SyncAttackTest, ARootThatOldKeysOrNewKeysDidNotSignIsRefused) {
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

TEST_F(SyncAttackTest, ARootOfAnotherVersionThanItsPlaceIsRefused) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  publisher_.Set(wire::RootVersionPath(2), publisher_.Get(wire::RootVersionPath(1)));
  ExpectRefused(ErrorCode::kUnauthenticated, "claims to be version 1");
}

TEST_F(SyncAttackTest, ReplacingACompromisedSnapshotKeyUndoesAFastForward) {
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

TEST_F(SyncAttackTest, APinnedRootOfAnotherServerRefusesEverything) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const testing::Publisher other(kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.root_file = other.Client(directory_.path()).root_file;
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnauthenticated);
}

TEST_F(SyncAttackTest, AMissingPinnedRootIsNamed) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  SyncOptions options = publisher_.Client(directory_.path());
  options.root_file = directory_.path() / "no-such-root";
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(report.error().message, HasSubstr("get it from the server's operator"));
  EXPECT_THAT(report.error().message, HasSubstr("no-such-root"));
}

TEST_F(SyncAttackTest, AnUnreachableServerIsUnavailableAndTheOldCatalogueStays) {
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
