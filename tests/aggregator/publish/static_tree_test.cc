// The published files as a tree for any web server: contents, order, old files, refusals.
#include "aggregator/publish/static_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "aggregator/publish/deletion_list.h"
#include "aggregator/publish/file_server.h"
#include "tests/aggregator/publish/static_tree_fixture.h"

namespace fieldcost::publish {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StaticTreeTest : public StaticTreeFixture {
 protected:
  DeletionList Deletions() {
    auto list = ParseDeletions(MustRead(tree() / kDeletionsFile));
    EXPECT_TRUE(list.has_value());
    return std::move(*list);
  }
  std::uint64_t Seconds() const { return MicrosOf(clock_.Now()) / 1'000'000; }
  void Pass(std::chrono::hours time) { clock_.Advance(time); }

  void ExpectRefusal(ErrorCode code, const std::string& message) {
    const auto report = Write();
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, code);
    EXPECT_THAT(report.error().message, HasSubstr(message));
  }
};

TEST_F(StaticTreeTest, HoldsWhatTheServerServes) {
  const StaticTreeReport report = MustWrite();
  EXPECT_THAT(Problems(), IsEmpty());
  const auto contents = Contents();
  EXPECT_EQ(report.files, contents.size());
  EXPECT_EQ(report.written, contents.size());
  const FileServer server(publisher_.directory(), 1);
  for (const auto& [path, bytes] : contents) {
    const http::Response response = server.Handle({.method = "GET", .target = '/' + path});
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, bytes) << path;
  }
  for (const char* path : {"v1/policy", "v1/root/1", "v1/root/newest", "v1/timestamp"}) {
    EXPECT_TRUE(contents.contains(path)) << path;
  }
  EXPECT_TRUE(contents.contains(FragmentFile(0)));
  EXPECT_THAT(Deletions(), IsEmpty());
}

TEST_F(StaticTreeTest, EveryoneMayReadIt) {
  const mode_t old = ::umask(0077);
  MustWrite();
  ::umask(old);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree())) {
    EXPECT_EQ(entry.status().permissions(),
              std::filesystem::perms(entry.is_directory() ? 0755 : 0644))
        << entry.path();
  }
}

TEST_F(StaticTreeTest, WritesNothingIfNothingHasChanged) {
  MustWrite();
  const auto inode = [&](const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat((tree() / path).c_str(), &info), 0) << path;
    return info.st_ino;
  };
  std::map<std::string, ino_t> inodes;
  for (const auto& [path, bytes] : Contents()) inodes[path] = inode(path);
  const StaticTreeReport again = MustWrite();
  EXPECT_EQ(again.written, 0U);
  EXPECT_EQ(again.bytes_written, 0U);
  for (const auto& [path, number] : inodes) EXPECT_EQ(inode(path), number) << path;
}

TEST_F(StaticTreeTest, RepairsDamagedFiles) {
  MustWrite();
  const auto contents = Contents();
  for (const auto& [path, bytes] : contents) {
    if (path == "v1/timestamp" || path == "v1/root/1") continue;  // these show whose tree it is
    std::ofstream(tree() / path) << "damaged";
  }
  std::ofstream(tree() / "v1/fragment" / (std::string(64, 'a') + ".Ab3dE6")) << "interrupted";
  MustWrite();
  EXPECT_EQ(Contents(), contents);
}

TEST_F(StaticTreeTest, OldFilesStayForTwoDays) {
  MustWrite();
  const std::string old_fragment = FragmentFile(0);
  PublishMore();
  const StaticTreeReport second = MustWrite();
  ASSERT_NE(FragmentFile(0), old_fragment);
  EXPECT_EQ(second.deleted, 0U);
  EXPECT_EQ(second.waiting, Deletions().size());
  EXPECT_EQ(Deletions().at(old_fragment), Seconds() + 48 * 3'600);
  const DeletionList planned = Deletions();
  Pass(std::chrono::hours(47));
  MustWrite();
  EXPECT_EQ(Deletions(), planned) << "the time begins once";
  EXPECT_TRUE(Contents().contains(old_fragment));
  Pass(std::chrono::hours(1));
  EXPECT_EQ(MustWrite().deleted, planned.size());
  EXPECT_FALSE(Contents().contains(old_fragment));
  EXPECT_EQ(Deletions(), planned) << "for copies of the tree";
  Pass(std::chrono::hours(48));
  MustWrite();
  EXPECT_THAT(Deletions(), IsEmpty());
  EXPECT_THAT(Problems(), IsEmpty());
}

// An interrupted run has planned deletions, but the tree's timestamp still lists these files.
TEST_F(StaticTreeTest, TheTimeOfAListedFileDoesNotBegin) {
  MustWrite();
  const std::string fragment = FragmentFile(0);
  const auto plan = [&] {
    std::ofstream(tree() / kDeletionsFile) << EncodeDeletions({{fragment, Seconds() - 1}});
  };
  plan();
  EXPECT_EQ(MustWrite().deleted, 0U);
  EXPECT_THAT(Deletions(), IsEmpty());
  plan();
  PublishMore();
  EXPECT_EQ(MustWrite().deleted, 0U);
  EXPECT_EQ(Deletions().at(fragment), Seconds() + 48 * 3'600);
  EXPECT_TRUE(Contents().contains(fragment));
}

TEST_F(StaticTreeTest, ATimeFarAheadIsShortened) {
  MustWrite();
  const std::string fragment = FragmentFile(0);
  PublishMore();
  MustWrite();
  std::ofstream(tree() / kDeletionsFile) << EncodeDeletions({{fragment, Seconds() * 2}});
  MustWrite();
  EXPECT_EQ(Deletions().at(fragment), Seconds() + 48 * 3'600);
}

TEST_F(StaticTreeTest, ADamagedListOfDeletionsIsBegunAnew) {
  MustWrite();
  const std::string fragment = FragmentFile(0);
  PublishMore();
  MustWrite();
  Pass(std::chrono::hours(40));
  std::ofstream(tree() / kDeletionsFile) << "1 ../../etc/passwd\n";
  MustWrite();
  EXPECT_EQ(Deletions().at(fragment), Seconds() + 48 * 3'600);
}

TEST_F(StaticTreeTest, ARootIsPublicOnceSomethingIsSignedWithItsKeys) {
  ASSERT_TRUE(RotateKeys({.data_dir = data_dir()}, KeyRole::kTimestamp, clock_).has_value());
  EXPECT_EQ(MustWrite().root_version, 1U);
  EXPECT_FALSE(Contents().contains("v1/root/2"));
  EXPECT_THAT(Problems(), IsEmpty());
  MustPublish(publisher_);
  EXPECT_EQ(MustWrite().root_version, 2U);
  EXPECT_EQ(Contents()["v1/root/newest"], Contents()["v1/root/2"]);
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(StaticTreeTest, AWithdrawnPolicyIsDeletedLikeOtherFiles) {
  MustWrite();
  std::filesystem::remove(publisher_.directory() / kPolicyFile);
  MustWrite();
  EXPECT_EQ(Deletions().at("v1/policy"), Seconds() + 48 * 3'600);
}

TEST_F(StaticTreeTest, RefusesToPublishTheKeys) {
  for (const std::filesystem::path& directory :
       {data_dir(), data_dir() / "publish", data_dir() / "new" / "tree", data_dir().parent_path(),
        dir_.path() / "x" / ".." / "data"}) {
    const auto report =
        WriteStaticTree({.data_dir = data_dir(), .directory = directory, .progress = {}}, clock_);
    ASSERT_FALSE(report.has_value()) << directory;
    EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(report.error().message, HasSubstr("overlap"));
  }
}

TEST_F(StaticTreeTest, RefusesTheTreeOfAnotherService) {
  MustWrite();
  std::ofstream(tree() / "v1/root/1") << "another root";
  ExpectRefusal(ErrorCode::kInvalidArgument, "the root of another service");
}

TEST_F(StaticTreeTest, RefusesToReplaceANewerPublication) {
  const std::filesystem::path saved = dir_.path() / "saved";
  std::filesystem::copy(publisher_.directory(), saved, std::filesystem::copy_options::recursive);
  PublishMore();
  MustWrite();
  const auto contents = Contents();
  std::filesystem::remove_all(publisher_.directory());
  std::filesystem::rename(saved, publisher_.directory());
  ExpectRefusal(ErrorCode::kInvalidArgument, "which clients may have seen");
  EXPECT_EQ(Contents(), contents);
  std::ofstream(tree() / "v1/timestamp") << "damaged";
  ExpectRefusal(ErrorCode::kInvalidArgument, "is damaged, or signed with keys that");
}

TEST_F(StaticTreeTest, RefusesWhatClientsWouldRefuse) {
  Pass(std::chrono::hours(7 * 24));
  ExpectRefusal(ErrorCode::kNotFound, "has expired (");
  EXPECT_THAT(std::filesystem::exists(tree() / "v1"), false);
}

TEST_F(StaticTreeTest, NeedsAPublication) {
  std::filesystem::remove(publisher_.directory() / "timestamp");
  ExpectRefusal(ErrorCode::kNotFound, "nothing has been published yet");
}

TEST_F(StaticTreeTest, NamesADamagedFragment) {
  const std::string hash = FragmentFile(0).substr(FragmentFile(0).rfind('/') + 1);
  std::ofstream(publisher_.directory() / "fragments" / hash) << "damaged";
  ExpectRefusal(ErrorCode::kCorrupt, hash + ": its name is not the hash of its content");
}

TEST_F(StaticTreeTest, OneRunAtATime) {
  MustWrite();
  const UniqueFd other(::open(tree().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  ExpectRefusal(ErrorCode::kAlreadyExists, "another publish --to is writing");
}

// The server removes old fragments while they are copied: the newer publication is written then.
TEST_F(StaticTreeTest, FollowsAPublicationThatReplacesTheOneBeingCopied) {
  bool has_published = false;
  const auto publish_meanwhile = [&](std::uint64_t, std::uint64_t) {
    if (std::exchange(has_published, true)) return;
    for (std::size_t i = 0; i <= 3; ++i) {
      Contribute(++agents_, 1, 2900, 1, 20);
      MustPublish(publisher_);
    }
  };
  const auto report = WriteStaticTree(
      {.data_dir = data_dir(), .directory = tree(), .progress = publish_meanwhile}, clock_);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(Problems(), IsEmpty());
}

}  // namespace
}  // namespace fieldcost::publish
