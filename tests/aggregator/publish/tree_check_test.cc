// Checks of a published tree: each kind of damage is found, and the damaged file is named.
#include "aggregator/publish/tree_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "tests/aggregator/publish/static_tree_fixture.h"

namespace fieldcost::publish {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TreeCheckTest : public StaticTreeFixture {
 protected:
  TreeCheckTest() { MustWrite(); }

  void Overwrite(const std::string& path, const std::string& bytes) {
    std::ofstream(tree() / path, std::ios::binary) << bytes;
  }
  std::string SnapshotFile() {
    for (const auto& [path, bytes] : Contents()) {
      if (path.starts_with("v1/snapshot/")) return path;
    }
    return {};
  }
};

TEST_F(TreeCheckTest, AWholeTreeHasNoProblem) {
  const auto source = OpenTree(tree().string(), "");
  ASSERT_TRUE(source.has_value());
  std::uint64_t seen = 0;
  const auto report =
      CheckTree(**source, {.progress = [&](std::uint64_t done, std::uint64_t) { seen = done; }},
                clock_.Now());
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->version, 1U);
  EXPECT_EQ(report->root_version, 1U);
  EXPECT_EQ(report->policy_version, 1U);
  EXPECT_EQ(report->files, Contents().size());
  EXPECT_EQ(report->rows, PublishedRows(publisher_).size());
  EXPECT_EQ(report->fragments, MustVerify(publisher_).fragments.size());
  EXPECT_EQ(seen, report->fragments);
  EXPECT_EQ(report->unlisted, 0U);
}

TEST_F(TreeCheckTest, FindsAndNamesEachDamage) {
  const std::string fragment = FragmentFile(0);
  const std::string snapshot = SnapshotFile();
  const auto flip = [&](const std::string& path) {
    std::string bytes = MustRead(tree() / path);
    bytes[bytes.size() / 2] ^= 1;
    Overwrite(path, bytes);
  };
  const auto remove = [&](const std::string& path) { std::filesystem::remove(tree() / path); };
  const struct {
    std::string file;
    std::string why;
    std::function<void(const std::string&)> damage;
  } cases[] = {
      {fragment, "its name is not the hash of its content", flip},
      {fragment, "it is missing", remove},
      {fragment, "its name is not the hash of its content",
       [&](const auto& path) { Overwrite(path, "short"); }},
      {fragment, "larger than",
       [&](const auto& path) { Overwrite(path, MustRead(tree() / path) + "x"); }},
      {fragment, "not a regular file",
       [&](const auto& path) {
         remove(path);
         std::filesystem::create_symlink("/dev/zero", tree() / path);
       }},
      {snapshot, "its name is not the hash of its content", flip},
      {snapshot, "it is missing", remove},
      {"v1/timestamp", "timestamp metadata", flip},
      {"v1/timestamp", "it is missing", remove},
      {"v1/timestamp", "larger than",
       [&](const auto& path) { Overwrite(path, std::string(wire::kMaxMetadataBytes + 1, 'x')); }},
      {"v1/root/1", "root metadata", flip},
      {"v1/root/1", "it is missing", remove},
      {"v1/root/newest", "it is not version 1", flip},
      {"v1/root/newest", "it is missing", remove},
      {"v1/root/2", "it is version 1",
       [&](const auto& path) { Overwrite(path, MustRead(tree() / "v1/root/1")); }},
      {"v1/policy", "policy", flip},
      {"v1/policy", "policy", [&](const auto& path) { Overwrite(path, ""); }},
      {"v1/fragment/" + std::string(64, '0'), "its name is not the hash of its content",
       [&](const auto& path) { Overwrite(path, "unlisted"); }},
      {"v1/fragment/README", "it is not a file of a published tree",
       [&](const auto& path) { Overwrite(path, "unknown"); }},
  };
  const std::filesystem::path saved = dir_.path() / "saved";
  std::filesystem::copy(tree(), saved, std::filesystem::copy_options::recursive);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.file + ": " + c.why);
    c.damage(c.file);
    EXPECT_THAT(Problems(),
                Contains(::testing::AllOf(StartsWith(c.file + ": "), HasSubstr(c.why))));
    std::filesystem::remove_all(tree());
    std::filesystem::copy(saved, tree(), std::filesystem::copy_options::recursive);
    ASSERT_THAT(Problems(), IsEmpty());
  }
}

TEST_F(TreeCheckTest, ReportsEachProblem) {
  Overwrite(FragmentFile(0), "x");
  Overwrite("v1/policy", "x");
  Overwrite("v1/nonsense", "x");
  EXPECT_EQ(Problems().size(), 3U);
}

TEST_F(TreeCheckTest, FindsWhatHasExpired) {
  clock_.Advance(std::chrono::days(8));
  std::vector<std::string> problems = Problems();
  EXPECT_THAT(problems, Contains(StartsWith("v1/timestamp: it has expired: ")));
  EXPECT_THAT(problems, Contains(StartsWith(SnapshotFile() + ": it has expired: ")));
  EXPECT_EQ(problems.size(), 2U);
  clock_.Advance(std::chrono::days(400));
  problems = Problems();
  EXPECT_THAT(problems, Contains(StartsWith("v1/root/1: it has expired: ")));
  EXPECT_THAT(problems, Contains(StartsWith("v1/policy: it has expired: ")));
}

TEST_F(TreeCheckTest, FollowsTheChainOfRoots) {
  for (const KeyRole role : {KeyRole::kTimestamp, KeyRole::kRoot, KeyRole::kSnapshot}) {
    ASSERT_TRUE(RotateKeys({.data_dir = data_dir()}, role, clock_).has_value());
    MustPublish(publisher_);
  }
  MustWrite();
  EXPECT_THAT(Problems(), IsEmpty());
  const std::string third = MustRead(tree() / "v1/root/3");
  Overwrite("v1/root/3", MustRead(tree() / "v1/root/2"));
  EXPECT_THAT(Problems(), Contains("v1/root/3: it is version 2"));
  Overwrite("v1/root/3", third);
  // Another service's chain continues with roots that its first root does not vouch for.
  Overwrite("v1/root/1", MustRead(tree() / "v1/root/4"));
  EXPECT_THAT(Problems(), Contains("v1/root/1: it is version 4"));
}

TEST_F(TreeCheckTest, OnlyTheTreeWithThePinnedRootIsGood) {
  const std::string root = MustRead(tree() / "v1/root/1");
  EXPECT_THAT(Problems({.pinned_root = root}), IsEmpty());
  EXPECT_THAT(Problems({.pinned_sha256 = crypto::HexSha256(root)}), IsEmpty());
  const std::string problem = "v1/root/1: neither it nor a root that follows is the given one";
  EXPECT_THAT(Problems({.pinned_root = root + "x"}), Contains(problem));
  EXPECT_THAT(Problems({.pinned_sha256 = std::string(64, 'a')}), Contains(problem));
  ASSERT_TRUE(RotateKeys({.data_dir = data_dir()}, KeyRole::kRoot, clock_).has_value());
  MustPublish(publisher_);
  MustWrite();
  EXPECT_THAT(Problems({.pinned_root = root}), IsEmpty());
  EXPECT_THAT(Problems({.pinned_root = MustRead(tree() / "v1/root/2")}), IsEmpty());
}

// A root that is validly signed by itself, but not by its predecessor.
TEST_F(TreeCheckTest, ARootNeedsItsPredecessorsSignature) {
  const crypto::PrivateKey foreign = crypto::PrivateKey::FromSeed(std::string(32, 'f'));
  auto root = wire::VerifyPinnedRoot(MustRead(tree() / "v1/root/1")).value();
  root.version = 2;
  root.root_keys = {foreign.public_key()};
  Overwrite("v1/root/2", wire::SignRoot(root, {foreign}));
  EXPECT_THAT(Problems(), Contains(StartsWith("v1/root/2: version 1 does not vouch for it")));
}

// Rows and sizes that differ from what the snapshot announces, correctly signed and named.
TEST_F(TreeCheckTest, ChecksWhatTheSnapshotAnnounces) {
  const auto key = [&](const char* name) {
    return crypto::PrivateKey::LoadOrCreate(data_dir() / "keys" / name).value();
  };
  const wire::SnapshotMetadata honest = MustVerify(publisher_);
  const auto problems_with = [&](const wire::SnapshotMetadata& snapshot) {
    const std::string bytes = wire::SignSnapshot(snapshot, key(kSnapshotKey));
    wire::TimestampMetadata timestamp{.version = 2,
                                      .expires = honest.expires,
                                      .published = honest.published,
                                      .snapshot_version = snapshot.version,
                                      .snapshot_sha256 = crypto::Sha256(bytes),
                                      .snapshot_bytes = bytes.size(),
                                      .refresh_seconds = 3'600};
    Overwrite(wire::SnapshotPath(timestamp.snapshot_sha256).substr(1), bytes);
    Overwrite("v1/timestamp", wire::SignTimestamp(timestamp, key(kTimestampKey)));
    return Problems();
  };
  ASSERT_THAT(problems_with(honest), IsEmpty());
  wire::SnapshotMetadata snapshot = honest;
  ++snapshot.fragments[0].row_count;
  EXPECT_THAT(problems_with(snapshot), Contains(HasSubstr("rows, but the snapshot announces")));
  snapshot = honest;
  ++snapshot.fragments[0].size_bytes;
  EXPECT_THAT(problems_with(snapshot), Contains(HasSubstr("bytes, but the snapshot announces")));
  snapshot = honest;
  snapshot.fragments[0].size_bytes = std::uint64_t{1} << 40;
  EXPECT_THAT(problems_with(snapshot), Contains(HasSubstr("snapshot metadata: fragment 0 has")));
  snapshot = honest;
  snapshot.fragment_bits = 1;
  snapshot.fragments = {honest.fragments[0], honest.fragments[0]};
  EXPECT_THAT(problems_with(snapshot), Contains(HasSubstr("which belongs to another one")));
}

TEST_F(TreeCheckTest, ATreeThatIsNotThereIsAnError) {
  const auto source = OpenTree((dir_.path() / "nowhere").string(), "");
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, ErrorCode::kNotFound);
  const auto server = OpenTree("http://127.0.0.1:1", "");
  ASSERT_TRUE(server.has_value());
  const auto report = CheckTree(**server, {}, clock_.Now());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(OpenTree("ftp://example.org", "").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace fieldcost::publish
