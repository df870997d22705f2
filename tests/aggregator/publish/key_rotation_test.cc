// Key rotation and versions that must not decrease, as seen by a client of the published files.
#include "aggregator/publish/key_rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>

#include "aggregator/publish/file_server.h"
#include "aggregator/publish/policy_publisher.h"
#include "aggregator/publish/publish_limits.h"
#include "aggregator/publish/publisher.h"
#include "common/base/file.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "common/http/http_server.h"
#include "tests/support/certificates.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {
namespace {

using ::testing::HasSubstr;

class KeyRotationTest : public ::testing::Test {
 protected:
  KeyRotationTest() : certificates_(testing::MakeCertificates(dir_.path())) {
    http::ServerOptions options;
    options.certificate_file = certificates_.certificate;
    options.private_key_file = certificates_.key;
    auto server =
        http::Server::Start(options, [this](http::Request request, const http::Respond& respond) {
          respond(files_->Handle(request));
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
    StartPublisher();
    // Users pin the first root.
    std::filesystem::copy_file(data_dir() / "publish/root/1", dir_.path() / "pinned");
  }

  std::filesystem::path data_dir() const { return dir_.path() / "data"; }
  std::filesystem::path keys() const { return data_dir() / "keys"; }

  // Like a (re)start of the service.
  void StartPublisher() {
    store_.reset();
    store_ = std::move(*store::Store::Open({.data_dir = data_dir(), .checkpoint_seconds = 0}));
    auto publisher = Publisher::Open({.data_dir = data_dir(), .contribution_threshold = 1}, clock_);
    ASSERT_TRUE(publisher.has_value()) << publisher.error().message;
    publisher_ = std::make_unique<Publisher>(std::move(*publisher));
    files_ = std::make_unique<FileServer>(publisher_->directory(), publisher_->root().version);
  }
  PublishReport MustPublish() {
    clock_.Advance(std::chrono::hours(1));
    const auto report = publisher_->Publish(*store_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    files_->SetRootVersion(publisher_->root().version);
    return report.value_or(PublishReport());
  }
  RotatedKeys MustRotate(KeyRole role, const RotationOptions& more = {}) {
    RotationOptions options = more;
    options.data_dir = data_dir();
    auto rotated = RotateKeys(options, role, clock_);
    EXPECT_TRUE(rotated.has_value()) << rotated.error().message;
    return rotated ? std::move(*rotated) : RotatedKeys();
  }
  Result<catalog::SyncReport> Sync(const std::string& client = "client") {
    catalog::SyncOptions options;
    options.catalog_file = dir_.path() / (client + ".db");
    options.root_file = dir_.path() / "pinned";
    options.server = {.url = "https://localhost:" + std::to_string(server_->port()),
                      .ca_file = certificates_.ca};
    options.full = true;
    return catalog::Sync(options, clock_);
  }
  void ExpectSyncs(std::uint64_t version, const std::string& client = "client") {
    const auto report = Sync(client);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->snapshot_version, version);
  }
  crypto::PrivateKey Load(const std::string& name) const {
    return *crypto::PrivateKey::LoadOrCreate(keys() / name);
  }

  const testing::TempDir dir_;
  const testing::Certificates certificates_;
  testing::FakeClock clock_{WallTime(std::chrono::days(20'000))};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<FileServer> files_;
  std::unique_ptr<http::Server> server_;  // destroyed before the data it serves
};

TEST_F(KeyRotationTest, ClientsFollowEveryRotationOfARunningService) {
  MustPublish();
  ExpectSyncs(1);
  std::uint64_t version = 1;
  for (const KeyRole role :
       {KeyRole::kTimestamp, KeyRole::kSnapshot, KeyRole::kPolicy, KeyRole::kRoot,
        KeyRole::kTimestamp, KeyRole::kRoot, KeyRole::kSnapshot}) {
    SCOPED_TRACE(Name(role));
    const RotatedKeys rotated = MustRotate(role);
    EXPECT_EQ(rotated.root.version, ++version);
    ExpectSyncs(version - 1);  // the new root is not published yet: nothing is signed with its keys
    MustPublish();
    EXPECT_EQ(publisher_->root(), rotated.root);
    ExpectSyncs(version);
  }
  ExpectSyncs(version, "newcomer");  // follows the whole chain of roots
  StartPublisher();
  EXPECT_EQ(publisher_->root().version, version);
  MustPublish();
  ExpectSyncs(version + 1);
}

TEST_F(KeyRotationTest, AStolenKeyIsWorthNothingAfterItsRotation) {
  MustPublish();
  ExpectSyncs(1);
  const crypto::PrivateKey stolen = Load(kTimestampKey);
  const std::filesystem::path file = publisher_->directory() / "timestamp";
  const auto honest = wire::VerifyTimestamp(*ReadFile(file, 1 << 16), publisher_->root());
  ASSERT_TRUE(honest.has_value());
  // The thief publishes a version so high that later honest ones would look like a rollback.
  wire::TimestampMetadata forged = *honest;
  forged.version = std::uint64_t{1} << 60;
  forged.refresh_seconds = 1;
  const std::string honest_bytes = *ReadFile(file, 1 << 16);
  ASSERT_TRUE(WriteFileAtomically(file, wire::SignTimestamp(forged, stolen), 0644).has_value());
  ASSERT_TRUE(Sync().has_value());
  ASSERT_TRUE(WriteFileAtomically(file, honest_bytes, 0644).has_value());
  EXPECT_FALSE(Sync().has_value());

  MustRotate(KeyRole::kTimestamp);
  EXPECT_NE(Load(kTimestampKey).public_key(), stolen.public_key());
  MustPublish();
  ExpectSyncs(2);
  forged.version = std::uint64_t{1} << 61;
  ASSERT_TRUE(WriteFileAtomically(file, wire::SignTimestamp(forged, stolen), 0644).has_value());
  const auto refused = Sync();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnauthenticated);
}

TEST_F(KeyRotationTest, RootsCanNeedSeveralKeys) {
  MustPublish();
  ExpectSyncs(1);
  const RotatedKeys two_of_three =
      MustRotate(KeyRole::kRoot, {.root_keys = 3, .root_threshold = 2});
  ASSERT_EQ(two_of_three.key_files.size(), 3U);
  EXPECT_EQ(two_of_three.root.root_threshold, 2U);
  MustPublish();
  ExpectSyncs(2);
  const auto rotate_with = [&](std::vector<std::filesystem::path> files) {
    return RotateKeys({.data_dir = data_dir(), .root_key_files = std::move(files)},
                      KeyRole::kSnapshot, clock_);
  };
  const auto& files = two_of_three.key_files;
  const auto one = rotate_with({files[1]});
  ASSERT_FALSE(one.has_value());
  EXPECT_EQ(one.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(one.error().message, HasSubstr("needs 2 of its 3 root keys"));
  EXPECT_FALSE(rotate_with({files[1], files[1]}).has_value());
  EXPECT_FALSE(rotate_with({files[1], keys() / kRootKey}).has_value());
  ASSERT_TRUE(rotate_with({files[2], files[0]}).has_value());
  MustPublish();
  ExpectSyncs(3);
  // Return to a single root key; two of the current keys sign the change.
  MustRotate(KeyRole::kRoot, {.root_key_files = {files[0], files[1]}});
  MustPublish();
  ExpectSyncs(4);
  for (const RotationOptions& bad :
       {RotationOptions{.data_dir = data_dir(), .root_keys = 0},
        RotationOptions{.data_dir = data_dir(), .root_keys = 2, .root_threshold = 3},
        RotationOptions{.data_dir = data_dir(), .root_keys = 2, .root_threshold = 0},
        RotationOptions{.data_dir = data_dir(), .root_keys = kMaxRootKeys + 1}}) {
    const auto refused = RotateKeys(bad, KeyRole::kRoot, clock_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(KeyRotationTest, ForeignAndMissingRootKeysAreRefusedAndChangeNothing) {
  ASSERT_TRUE(std::filesystem::exists(keys() / kRootKey));
  std::filesystem::rename(keys() / kRootKey, dir_.path() / "offline.key");
  const auto without = RotateKeys({.data_dir = data_dir()}, KeyRole::kSnapshot, clock_);
  ASSERT_FALSE(without.has_value());
  EXPECT_EQ(without.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(without.error().message, HasSubstr("--root-key"));
  const auto missing = RotateKeys({.data_dir = data_dir(), .root_key_files = {dir_.path() / "no"}},
                                  KeyRole::kRoot, clock_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "no"));
  const auto foreign =
      RotateKeys({.data_dir = data_dir(), .root_key_files = {keys() / kSnapshotKey}},
                 KeyRole::kSnapshot, clock_);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(KeyRing::NewestRoot(data_dir() / "publish/root")->version, 1U);
  MustRotate(KeyRole::kSnapshot, {.root_key_files = {dir_.path() / "offline.key"}});
  MustPublish();
  ExpectSyncs(1);
}

TEST_F(KeyRotationTest, AnInterruptedRotationIsFinishedAtTheNextStart) {
  MustPublish();
  ExpectSyncs(1);
  const std::string old_key = *ReadFile(keys() / kTimestampKey, 1024);
  MustRotate(KeyRole::kTimestamp);
  // As if the rotation was interrupted just after the root was written.
  const std::filesystem::path waiting = keys() / (std::string(kTimestampKey) + kNextKeySuffix);
  std::filesystem::rename(keys() / kTimestampKey, waiting);
  ASSERT_TRUE(WriteFileAtomically(keys() / kTimestampKey, old_key, 0600).has_value());
  StartPublisher();
  MustPublish();
  ExpectSyncs(2);
  EXPECT_FALSE(std::filesystem::exists(waiting));
  // As if it was interrupted just before: the waiting key is not used.
  ASSERT_TRUE(crypto::PrivateKey::LoadOrCreate(waiting).has_value());
  StartPublisher();
  MustRotate(KeyRole::kTimestamp);
  MustPublish();
  ExpectSyncs(3);
}

TEST_F(KeyRotationTest, ARootWithoutAPolicyKeyGetsOne) {
  wire::RootMetadata root = publisher_->root();
  root.policy_keys.clear();
  ASSERT_TRUE(std::filesystem::remove(keys() / kPolicyKey));
  ASSERT_TRUE(WriteFileAtomically(data_dir() / "publish/root/1",
                                  wire::SignRoot(root, {Load(kRootKey)}), 0644)
                  .has_value());
  StartPublisher();
  MustPublish();
  EXPECT_FALSE(PublishPolicy(data_dir(), {}, std::chrono::hours(24), clock_).has_value());
  const RotatedKeys rotated = MustRotate(KeyRole::kPolicy);
  EXPECT_EQ(rotated.root.policy_keys.size(), 1U);
  const auto policy = PublishPolicy(data_dir(), {}, std::chrono::hours(24), clock_);
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->version, 1U);
}

TEST_F(KeyRotationTest, NewKeyFilesAreForTheirOwnerOnly) {
  for (const KeyRole role : {KeyRole::kTimestamp, KeyRole::kRoot}) {
    for (const std::filesystem::path& file : MustRotate(role).key_files) {
      struct stat status {};
      ASSERT_EQ(::stat(file.c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777U, 0600U);
    }
  }
}

TEST_F(KeyRotationTest, ARootIsRenewedBeforeItExpires) {
  MustPublish();
  ExpectSyncs(1);
  clock_.Advance(std::chrono::days(364));
  const auto renewed = RenewRoot({.data_dir = data_dir()}, clock_);
  ASSERT_TRUE(renewed.has_value());
  wire::RootMetadata same_keys = publisher_->root();
  same_keys.version = 2;
  same_keys.expires = renewed->root.expires;
  EXPECT_EQ(renewed->root, same_keys);
  MustPublish();
  clock_.Advance(std::chrono::days(2));
  MustPublish();
  ExpectSyncs(3);
}

TEST_F(KeyRotationTest, VersionsDoNotStartAgainWhenPublishedFilesAreLost) {
  MustPublish();
  MustPublish();
  ExpectSyncs(2);
  for (const char* lost : {"timestamp", "snapshots", "fragments"}) {
    std::filesystem::remove_all(data_dir() / "publish" / lost);
  }
  StartPublisher();
  EXPECT_EQ(MustPublish().version, 3U);
  ExpectSyncs(3);
}

TEST_F(KeyRotationTest, ClientsAcceptWhatARestoredStorePublishes) {
  MustPublish();
  ASSERT_TRUE(store_->Backup(dir_.path() / "backup").has_value());
  for (int i = 0; i < 5; ++i) MustPublish();
  ExpectSyncs(6);
  // The disk is lost; keys and roots are restored from elsewhere, the store from its backup.
  store_.reset();
  publisher_.reset();
  std::filesystem::rename(data_dir(), dir_.path() / "lost");
  ASSERT_TRUE(store::Store::RestoreBackup(dir_.path() / "backup", data_dir()).has_value());
  std::filesystem::copy(dir_.path() / "lost/keys", keys());
  std::filesystem::create_directory(data_dir() / "publish");
  std::filesystem::copy(dir_.path() / "lost/publish/root", data_dir() / "publish/root");
  StartPublisher();
  EXPECT_EQ(MustPublish().version, 1 + kRestoredVersionGap + 1);
  ExpectSyncs(1 + kRestoredVersionGap + 1);
  StartPublisher();
  EXPECT_EQ(MustPublish().version, 1 + kRestoredVersionGap + 2);  // the gap is applied only once
  ExpectSyncs(1 + kRestoredVersionGap + 2);
}

TEST_F(KeyRotationTest, APolicyAfterARestorationPassesAllThatAgentsMayHaveSeen) {
  const auto sign = [&] {
    const auto policy = PublishPolicy(data_dir(), {}, std::chrono::hours(24), clock_);
    EXPECT_TRUE(policy.has_value()) << policy.error().message;
    return policy ? policy->version : 0;
  };
  EXPECT_EQ(sign(), 1U);
  EXPECT_EQ(sign(), 2U);
  ASSERT_TRUE(LeavePolicyVersionGap(data_dir()).has_value());
  // Restored again before anything was signed.
  ASSERT_TRUE(LeavePolicyVersionGap(data_dir()).has_value());
  EXPECT_EQ(sign(), 2 + 2 * kRestoredVersionGap + 1);
  EXPECT_EQ(sign(), 2 + 2 * kRestoredVersionGap + 2);
  const std::filesystem::path floor = publisher_->directory() / kPolicyFloorFile;
  ASSERT_TRUE(WriteFileAtomically(floor, "many\n", 0644).has_value());
  const auto refused = PublishPolicy(data_dir(), {}, std::chrono::hours(24), clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
}

TEST(KeyRoleTest, NamesAreTheOnesThatAreParsed) {
  for (const KeyRole role :
       {KeyRole::kTimestamp, KeyRole::kSnapshot, KeyRole::kPolicy, KeyRole::kRoot}) {
    EXPECT_EQ(ParseKeyRole(Name(role)).value(), role);
  }
  EXPECT_THAT(ParseKeyRole("Root").error().message, HasSubstr("timestamp, snapshot, policy, root"));
}

}  // namespace
}  // namespace fieldcost::publish
