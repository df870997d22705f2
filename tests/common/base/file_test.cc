#include "common/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include "tests/support/temp_dir.h"

namespace fieldcost {
namespace {

using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  std::filesystem::path Path(const char* name) const { return directory_.path() / name; }
  mode_t ModeOf(const std::filesystem::path& path) const {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  testing::TempDir directory_;
};

TEST_F(FileTest, WritingReplacesTheWholeFileAndLeavesNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "a longer first text", 0644));
  ASSERT_TRUE(WriteFileAtomically(Path("a"), std::string_view("sec\0nd", 6), 0600));
  EXPECT_EQ(ReadFile(Path("a"), 100).value(), std::string("sec\0nd", 6));
  EXPECT_EQ(ModeOf(Path("a")), 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(MakeDirectories(Path("d") / "inner", 0700));
  const Status onto_directory = WriteFileAtomically(Path("d"), "text", 0600);
  ASSERT_FALSE(onto_directory);
  EXPECT_THAT(onto_directory.error().message, HasSubstr(Path("d").string()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
  const Status nowhere = WriteFileAtomically(Path("none") / "a", "text", 0600);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, ReadingStopsAtTheLimit) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), std::string(20'000, 'x'), 0600));
  EXPECT_EQ(ReadFile(Path("a"), 20'000).value().size(), 20'000u);
  const Result<std::string> large = ReadFile(Path("a"), 19'999);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
}

TEST_F(FileTest, OnlyRegularFilesAreRead) {
  const Result<std::string> directory = ReadFile(directory_.path(), 100);
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message, HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const Result<std::string> pipe = ReadFile(Path("pipe"), 100);  // without waiting for its writer
  ASSERT_FALSE(pipe);
  EXPECT_THAT(pipe.error().message, HasSubstr("not a regular file"));
  const Result<std::string> missing = ReadFile(Path("missing"), 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message,
            "open " + Path("missing").string() + ": No such file or directory");
}

TEST_F(FileTest, DirectoriesAreMadeWithTheirParentsAndMayExist) {
  const std::filesystem::path path = Path("a") / "b" / "c";
  ASSERT_TRUE(MakeDirectories(path, 0700));
  EXPECT_EQ(ModeOf(path), 0700u);
  EXPECT_TRUE(MakeDirectories(path, 0755));
  EXPECT_EQ(ModeOf(path), 0700u);
  ASSERT_TRUE(WriteFileAtomically(Path("file"), "", 0600));
  EXPECT_FALSE(MakeDirectories(Path("file"), 0700));
  EXPECT_FALSE(MakeDirectories(Path("file") / "below", 0700));
}

TEST(UniqueFdTest, ClosesOnceAndMoves) {
  int number = -1;
  {
    UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd.valid());  // NOLINT(bugprone-use-after-move): tested here
    EXPECT_EQ(moved.get(), number);
    EXPECT_NE(::fcntl(number, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(UniqueFdTest, AReleasedDescriptorStaysOpen) {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd released(fd.Release());
  EXPECT_FALSE(fd.valid());
  fd.Reset();
  EXPECT_NE(::fcntl(released.get(), F_GETFD), -1);
}

TEST(ErrnoErrorTest, TheCodeFitsTheErrorNumber) {
  EXPECT_EQ(ErrnoError("open", "/x", ENOENT).code, ErrorCode::kNotFound);
  EXPECT_EQ(ErrnoError("open", "/x", EACCES).code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(ErrnoError("open", "/x", EEXIST).code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(ErrnoError("write", "/x", ENOSPC).code, ErrorCode::kIo);
  for (const int shortage : {EMFILE, ENFILE, ENOMEM}) {
    EXPECT_EQ(ErrnoError("open", "/x", shortage).code, ErrorCode::kUnavailable);
  }
  EXPECT_EQ(ErrnoError("open", "/x", EMFILE).message,
            "open /x: Too many open files; raise the limit with ulimit -n");
  EXPECT_EQ(ErrnoError("write", "/x", ENOSPC).message, "write /x: No space left on device");
}

}  // namespace
}  // namespace fieldcost
