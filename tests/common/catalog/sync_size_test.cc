// Tests that one version has one content, and that announced sizes limit downloads.
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using testing::MakeRows;

using SyncContentTest = SyncTest;

TEST_F(SyncContentTest, ATimestampVersionHasOneContent) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true));
  publisher_.timestamp.refresh_seconds += 1;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kUnauthenticated,
                "timestamp metadata version 1 was received with different content");
  publisher_.timestamp.version += 1;
  publisher_.ServeTimestamp();
  EXPECT_TRUE(SyncNow(true));
}

TEST_F(SyncContentTest, ASnapshotVersionHasOneContent) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncNow(true));
  publisher_.snapshot.version -= 1;  // the publisher adds 1
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ExpectRefused(ErrorCode::kUnauthenticated,
                "snapshot metadata version 1 was received with different content");
  EXPECT_EQ(SumOf(0), 1000U);
}

TEST_F(SyncContentTest, AContentThatWasRefusedDoesNotCountAsSeen) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string honest = publisher_.Get(wire::kTimestampPath);
  publisher_.Set(wire::kTimestampPath,
                 wire::SignTimestamp(publisher_.timestamp, crypto::PrivateKey::Generate()));
  ExpectRefused(ErrorCode::kUnauthenticated, "timestamp metadata");
  publisher_.Set(wire::kTimestampPath, honest);
  EXPECT_TRUE(SyncNow(true));
}

using SyncSizeTest = SyncTest;

TEST_F(SyncSizeTest, ASnapshotIsCutOffAtTheSizeThatTheTimestampAnnounces) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  const std::string path = wire::SnapshotPath(publisher_.timestamp.snapshot_sha256);
  publisher_.Set(path, publisher_.Get(path) + "x");
  ExpectRefused(ErrorCode::kTooLarge, "fetch snapshot metadata");
}

TEST_F(SyncSizeTest, AFragmentIsCutOffAtTheSizeThatTheSnapshotAnnounces) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string path = wire::FragmentPath(publisher_.snapshot.fragments[0].sha256);
  const std::string whole = publisher_.Get(path);
  publisher_.Set(path, whole + "x");
  ExpectRefused(ErrorCode::kTooLarge, "fetch fragment 0");
  publisher_.Set(path, whole);
  EXPECT_TRUE(SyncNow(true));
}

TEST_F(SyncSizeTest, TimestampAndRootHaveSmallLimits) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  const std::string honest = publisher_.Get(wire::kTimestampPath);
  publisher_.Set(wire::kTimestampPath, std::string(16 * kKiB + 1, 'x'));
  ExpectRefused(ErrorCode::kTooLarge, "fetch timestamp metadata");
  publisher_.Set(wire::kTimestampPath, honest);
  publisher_.Set(wire::RootVersionPath(2), std::string(64 * kKiB + 1, 'x'));
  ExpectRefused(ErrorCode::kTooLarge, "fetch root metadata version 2");
}

TEST_F(SyncSizeTest, AnnouncedSizesHaveLimits) {
  publisher_.Publish(MakeRows(10, 1000), 0, kNow);
  publisher_.snapshot.fragments[0].size_bytes = wire::kMaxFragmentBytes + 1;
  publisher_.ServeSnapshot();
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kTooLarge, "bytes");
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 0U);
  publisher_.timestamp.snapshot_bytes = wire::kMaxMetadataBytes + 1;
  ++publisher_.timestamp.version;
  publisher_.ServeTimestamp();
  ExpectRefused(ErrorCode::kTooLarge, "bytes");
}

}  // namespace
}  // namespace fieldcost::catalog
