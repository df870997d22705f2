#include "agent/settings/scratch_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

namespace fs = std::filesystem;

class ScratchDirectoryTest : public ::testing::Test {
 protected:
  AgentPaths Paths() const {
    AgentPaths paths;
    paths.state_dir = "/state";
    paths.memory_roots = {memory_.path() / "root"};
    return paths;
  }

  testing::TempDir memory_{testing::kMemory};
};

TEST_F(ScratchDirectoryTest, IsPrivateAndRemovedWithItsOwner) {
  fs::path path;
  {
    const auto made = ScratchDirectory::Make(Paths(), "lab");
    ASSERT_TRUE(made) << made.error().message;
    path = made->path();
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
    std::ofstream(path / "left") << "by a program";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ScratchDirectoryTest, KeepsDirectoriesInUse) {
  const auto one = ScratchDirectory::Make(Paths(), "lab");
  const auto other = ScratchDirectory::Make(Paths(), "lab");
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->path(), other->path());
  EXPECT_TRUE(fs::exists(one->path()));
}

TEST_F(ScratchDirectoryTest, RemovesDirectoriesOfKilledProcessesOnTheNextUse) {
  auto first = ScratchDirectory::Make(Paths(), "lab");
  ASSERT_TRUE(first);
  const fs::path parent = first->path().parent_path();
  for (const char* name : {"lab-killed", "trace-killed", "labour"}) {
    fs::create_directories(parent / name / "runs");
  }
  ASSERT_TRUE(ScratchDirectory::Make(Paths(), "lab"));
  EXPECT_FALSE(fs::exists(parent / "lab-killed"));
  EXPECT_TRUE(fs::exists(parent / "trace-killed"));
  EXPECT_TRUE(fs::exists(parent / "labour"));
  EXPECT_TRUE(fs::exists(first->path()));
}

TEST_F(ScratchDirectoryTest, ReportsWhyThereIsNone) {
  AgentPaths paths = Paths();
  paths.memory_roots = {};
  EXPECT_EQ(ScratchDirectory::Make(paths, "lab").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace fieldcost::settings
