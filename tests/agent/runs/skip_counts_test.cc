#include "agent/runs/skip_counts.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <set>

#include "common/base/file.h"
#include "common/shm/skip_file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::runs {
namespace {

class SkipCountsTest : public ::testing::Test {
 protected:
  // Counts as programs do.
  void Count(shm::Skip reason, std::uint64_t runs) {
    const UniqueFd fd(::open(file_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(fd.valid());
    void* mapped =
        ::mmap(nullptr, sizeof(shm::SkipFile), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    static_cast<shm::SkipFile*>(mapped)->counts[static_cast<std::uint32_t>(reason)] += runs;
    ::munmap(mapped, sizeof(shm::SkipFile));
  }

  struct stat Info() const {
    struct stat info {};
    EXPECT_EQ(::stat(file_.c_str(), &info), 0);
    return info;
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / shm::kSkipFileName;
};

TEST_F(SkipCountsTest, TheFileIsCreatedCompleteAndForTheUserOnly) {
  ASSERT_TRUE(MakeSkipFile(file_));
  EXPECT_EQ(Info().st_size, static_cast<off_t>(sizeof(shm::SkipFile)));
  EXPECT_EQ(Info().st_mode & 0777, 0600U);
  EXPECT_GT(Info().st_blocks, 0) << "counting needs no more disk space";
  EXPECT_TRUE(ReadSkips(file_).empty());
}

TEST_F(SkipCountsTest, ReportsOnlyNonzeroCounts) {
  ASSERT_TRUE(MakeSkipFile(file_));
  Count(shm::Skip::kSandboxed, 3);
  Count(shm::Skip::kSystemLoaded, 7);
  EXPECT_THAT(
      ReadSkips(file_),
      ::testing::ElementsAre(
          SkipCount{
              .reason = "the system was under load", .runs = 7, .skip = shm::Skip::kSystemLoaded},
          SkipCount{.reason = "the program entered a sandbox (seccomp): measured until then",
                    .runs = 3,
                    .skip = shm::Skip::kSandboxed}));
}

TEST_F(SkipCountsTest, EveryReasonHasItsOwnWords) {
  ASSERT_TRUE(MakeSkipFile(file_));
  for (std::uint32_t i = 0; i < shm::kSkipCount; ++i) Count(static_cast<shm::Skip>(i), 1);
  std::set<std::string> reasons;
  for (const SkipCount& count : ReadSkips(file_)) {
    EXPECT_GT(count.reason.size(), 10U);
    reasons.insert(count.reason);
  }
  EXPECT_EQ(reasons.size(), shm::kSkipCount);
}

TEST_F(SkipCountsTest, ValidFileStaysTheOneThatProgramsHaveMapped) {
  ASSERT_TRUE(MakeSkipFile(file_));
  Count(shm::Skip::kNoLease, 5);
  const ino_t inode = Info().st_ino;
  ASSERT_TRUE(MakeSkipFile(file_));
  EXPECT_EQ(Info().st_ino, inode);
  EXPECT_EQ(ReadSkips(file_)[0].runs, 5U);
}

TEST_F(SkipCountsTest, UnusableFilesAreReplacedAndCountNothing) {
  shm::SkipFile foreign{};
  std::memcpy(foreign.magic, "fcskips9", sizeof foreign.magic);
  foreign.counts[0] = 1;
  const std::string other(reinterpret_cast<const char*>(&foreign), sizeof foreign);
  std::string longer = other + "x";
  longer.replace(0, sizeof shm::kSkipMagic, shm::kSkipMagic, sizeof shm::kSkipMagic);
  for (const std::string& bytes : {std::string(), std::string("fcskips1"), other, longer}) {
    ASSERT_TRUE(WriteFileAtomically(file_, bytes, 0600));
    EXPECT_TRUE(ReadSkips(file_).empty());
    ASSERT_TRUE(MakeSkipFile(file_));
    EXPECT_EQ(Info().st_size, static_cast<off_t>(sizeof(shm::SkipFile)));
    EXPECT_TRUE(ReadSkips(file_).empty());
  }
}

}  // namespace
}  // namespace fieldcost::runs
