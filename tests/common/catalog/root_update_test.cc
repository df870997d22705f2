// Tests how a catalogue follows, keeps and uses the chain of roots.
#include "common/catalog/root_chain.h"

#include "common/base/file.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MakeRows;
using ::testing::Not;

class RootUpdateTest : public SyncTest {
 protected:
  RootUpdateTest() { publisher_.Publish(MakeRows(10, 1000), 1, kNow); }

  // Serves the next root, with `change` applied, signed by the root key.
  template <typename Change>
  void PublishNext(Change change) {
    wire::RootMetadata next = publisher_.root;
    ++next.version;
    change(next);
    publisher_.PublishRoot(next, {publisher_.root_key});
  }
  void PublishNext() {
    PublishNext([](wire::RootMetadata&) {});
  }

  void ExpectSyncs() {
    const auto report = SyncNow(true);
    ASSERT_TRUE(report) << report.error().message;
  }
  bool HasRequested(std::uint64_t root_version) {
    const auto requests = publisher_.TakeRequests();
    return std::count(requests.begin(), requests.end(), wire::RootVersionPath(root_version)) != 0;
  }
  std::filesystem::path PinnedRoot() const {
    return publisher_.Client(directory_.path()).root_file;
  }
  void Pin(const std::string& root) { ASSERT_TRUE(WriteFileAtomically(PinnedRoot(), root, 0644)); }
};

TEST_F(RootUpdateTest, AnInvalidRootDoesNotDiscardItsPredecessor) {
  PublishNext();
  const std::string second = publisher_.Get(wire::RootVersionPath(2));
  publisher_.Set(wire::RootVersionPath(3), "no root");
  ExpectRefused(ErrorCode::kCorrupt, "root metadata version 3");
  // The second root is not requested again, not even if the server no longer has it.
  publisher_.Remove(wire::RootVersionPath(2));
  publisher_.Remove(wire::RootVersionPath(3));
  publisher_.TakeRequests();
  ExpectSyncs();
  EXPECT_THAT(publisher_.TakeRequests(), Not(Contains(wire::RootVersionPath(2))));
}

TEST_F(RootUpdateTest, AFailedServerDoesNotDiscardVerifiedRoots) {
  PublishNext();
  publisher_.RespondToMissing(503);
  ExpectRefused(ErrorCode::kUnavailable, "answered 503");
  publisher_.RespondToMissing(404);
  publisher_.TakeRequests();
  ExpectSyncs();
  EXPECT_FALSE(HasRequested(2));
}

TEST_F(RootUpdateTest, KeepsAllRootsAndStartsFromThePinnedOne) {
  for (int i = 0; i < 4; ++i) PublishNext();
  ExpectSyncs();
  for (int version = 1; version <= 5; ++version) publisher_.Remove(wire::RootVersionPath(version));
  publisher_.TakeRequests();
  ExpectSyncs();
  EXPECT_THAT(publisher_.TakeRequests(), Contains(wire::RootVersionPath(6)));
  // A pinned root that does not lead to the newest one ends the sync.
  const testing::Publisher other(kNow);
  Pin(*ReadFile(other.Client(directory_.path()).root_file, kMaxRootBytes));
  ExpectRefused(ErrorCode::kUnauthenticated, "root metadata version 1 was received with different");
}

TEST_F(RootUpdateTest, APackageCanBringANewerRoot) {
  PublishNext();
  PublishNext();
  const std::string third = publisher_.Get(wire::RootVersionPath(3));
  PublishNext();
  publisher_.Remove(wire::RootVersionPath(2));
  publisher_.Remove(wire::RootVersionPath(3));
  ExpectSyncs();  // with the first root: the chain is interrupted
  Pin(third);
  publisher_.TakeRequests();
  ExpectSyncs();
  EXPECT_TRUE(HasRequested(4));
  // Versions seen before are still remembered, because the keys are the same.
  const std::string old_timestamp = publisher_.Get(wire::kTimestampPath);
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ExpectSyncs();
  publisher_.Set(wire::kTimestampPath, old_timestamp);
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
}

TEST_F(RootUpdateTest, AMissingPinnedRootMattersOnlyForTheFirstSync) {
  ExpectSyncs();
  std::filesystem::remove(PinnedRoot());
  PublishNext();
  ExpectSyncs();
  std::filesystem::remove(directory_.path() / "catalog.db");
  ExpectRefused(ErrorCode::kNotFound, "catalog_root");
}

TEST_F(RootUpdateTest, AChainThatEndsBeforeTheNewestKnownRootIsARollback) {
  PublishNext();
  const std::string second = publisher_.Get(wire::RootVersionPath(2));
  PublishNext();
  Pin(publisher_.Get(wire::RootVersionPath(3)));
  ExpectSyncs();
  publisher_.Remove(wire::RootVersionPath(2));
  Pin(publisher_.Get(wire::RootVersionPath(1)));
  ExpectRefused(ErrorCode::kUnauthenticated, "version 1, but version 3 was seen before (rollback)");
  publisher_.Set(wire::RootVersionPath(2), second);
  ExpectSyncs();
}

TEST_F(RootUpdateTest, OnlyTheLastRootMustNotHaveExpired) {
  PublishNext([](wire::RootMetadata& root) { root.expires = kNow - kDay; });
  PublishNext([](wire::RootMetadata& root) { root.expires = kNow + kDay; });
  ExpectSyncs();
  PublishNext([](wire::RootMetadata& root) { root.expires = kNow - kDay; });
  ExpectRefused(ErrorCode::kUnauthenticated, "root metadata expired");
  // Its successor is reached although the sync failed.
  PublishNext([](wire::RootMetadata& root) { root.expires = kNow + kDay; });
  publisher_.TakeRequests();
  ExpectSyncs();
  EXPECT_FALSE(HasRequested(4));
}

TEST_F(RootUpdateTest, ASyncFollows256RotationsAndTheNextOneContinues) {
  while (publisher_.root.version < 1 + kMaxRootUpdates) {
    PublishNext([](wire::RootMetadata& root) { root.expires = kNow - kDay; });
  }
  PublishNext([](wire::RootMetadata& root) { root.expires = kNow + kDay; });
  ExpectRefused(ErrorCode::kUnauthenticated, "root metadata expired");
  EXPECT_TRUE(HasRequested(257));
  ExpectSyncs();
  const auto requests = publisher_.TakeRequests();
  EXPECT_THAT(requests, Contains(wire::RootVersionPath(258)));
  EXPECT_THAT(requests, Not(Contains(wire::RootVersionPath(257))));
}

TEST_F(RootUpdateTest, StatusesOfObjectStoresMeanThatThereIsNoNewerRoot) {
  PublishNext();
  for (const int status : {403, 404, 410}) {
    SCOPED_TRACE(status);
    publisher_.RespondToMissing(status);
    std::filesystem::remove(directory_.path() / "catalog.db");
    ExpectSyncs();
    EXPECT_TRUE(HasRequested(3));
  }
  for (const int status : {400, 401, 429, 500, 503}) {
    SCOPED_TRACE(status);
    publisher_.RespondToMissing(status);
    ExpectRefused(ErrorCode::kUnavailable, "root metadata version 3");
  }
}

// Keys that are replaced and later used again (A, B, A), as two operators' tools could do.
class KeyReturnTest : public RootUpdateTest, public ::testing::WithParamInterface<const char*> {
 protected:
  std::vector<crypto::PublicKey>& KeysOf(wire::RootMetadata& root) {
    return GetParam() == std::string("timestamp") ? root.timestamp_keys : root.snapshot_keys;
  }
};

TEST_P(KeyReturnTest, AChangeAnywhereInTheChainDiscardsTheVersionsSeen) {
  publisher_.snapshot.version = 1'000'000;
  publisher_.timestamp.version = 1'000'000;
  publisher_.Publish(MakeRows(10, 6666), 1, kNow);
  ExpectSyncs();
  publisher_.snapshot.version = 1;
  publisher_.timestamp.version = 1;
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
  const std::vector<crypto::PublicKey> keys = KeysOf(publisher_.root);
  PublishNext([this](wire::RootMetadata& root) {
    KeysOf(root) = {crypto::PrivateKey::Generate().public_key()};
  });
  PublishNext([&](wire::RootMetadata& root) { KeysOf(root) = keys; });
  ExpectSyncs();
  EXPECT_EQ(SumOf(0), 2000U);
  EXPECT_EQ(Fresh().snapshot_version, 2U);
}

TEST_P(KeyReturnTest, TheSameKeysInAnotherOrderAreNoChange) {
  const crypto::PublicKey second = crypto::PrivateKey::Generate().public_key();
  const crypto::PublicKey first = KeysOf(publisher_.root).front();
  PublishNext([&](wire::RootMetadata& root) { KeysOf(root) = {first, second}; });
  publisher_.timestamp.version = 1'000'000;
  publisher_.Publish(MakeRows(10, 6666), 1, kNow);
  ExpectSyncs();
  publisher_.timestamp.version = 1;
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  PublishNext([&](wire::RootMetadata& root) { KeysOf(root) = {second, first}; });
  ExpectRefused(ErrorCode::kUnauthenticated, "rollback");
}

TEST_P(KeyReturnTest, TheCatalogueStaysReadableWhenVersionsAreDiscarded) {
  ExpectSyncs();
  PublishNext([this](wire::RootMetadata& root) {
    KeysOf(root) = {crypto::PrivateKey::Generate().public_key()};
  });
  ExpectRefused(ErrorCode::kUnauthenticated, GetParam());
  EXPECT_EQ(Fresh().snapshot_version, 1U);
  EXPECT_EQ(SumOf(0), 1000U);
}

INSTANTIATE_TEST_SUITE_P(Roles, KeyReturnTest, ::testing::Values("timestamp", "snapshot"));

}  // namespace
}  // namespace fieldcost::catalog
