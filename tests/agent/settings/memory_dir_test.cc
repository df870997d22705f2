#include "agent/settings/memory_dir.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agent/runs/policy_writer.h"
#include "common/base/file.h"
#include "common/shm/policy_file.h"
#include "tests/support/binary_dir.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class MemoryDirTest : public ::testing::Test {
 protected:
  MemoryDirTest() {
    paths_.state_dir = disk_.path() / "state";
    paths_.memory_roots = {session_.path() / "fieldcost", machine_.path() / "fieldcost-7"};
  }

  std::string Problem() const {
    const auto memory = FindMemoryDir(paths_);
    return memory ? "" : memory.error().message;
  }
  fs::path Found() const {
    const auto memory = FindMemoryDir(paths_);
    return memory ? memory->root : fs::path();
  }
  static unsigned ModeOf(const fs::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  }

  testing::TempDir disk_{FIELDCOST_BINARY_DIR};
  testing::TempDir session_{testing::kMemory};
  testing::TempDir machine_{testing::kMemory};
  AgentPaths paths_;
};

TEST_F(MemoryDirTest, TheFirstUsableRootTakesADirectoryForEachProfile) {
  const auto memory = MakeMemoryDir(paths_);
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->root, paths_.memory_roots[0]);
  EXPECT_EQ(memory->directory.string(), memory->root.string() + paths_.state_dir.string());
  EXPECT_EQ(paths_.run_dir(), memory->directory / "runs");
  for (const fs::path& path : {memory->root, memory->directory, memory->directory / "runs"}) {
    EXPECT_EQ(ModeOf(path), 0700U) << path;
  }
  AgentPaths other = paths_;
  other.state_dir = disk_.path() / "other" / "";
  const auto others = MakeMemoryDir(other);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->directory.string(), memory->root.string() + (disk_.path() / "other").string());
  EXPECT_EQ(fs::exists(machine_.path() / "fieldcost-7"), false);
}

TEST_F(MemoryDirTest, SkipsUnusableDirectories) {
  const fs::path root = paths_.memory_roots[0];
  EXPECT_EQ(Found(), root);
  fs::create_directory(root);
  fs::permissions(root, fs::perms(0750));
  EXPECT_EQ(Found(), paths_.memory_roots[1]) << "open to others";
  fs::remove(root);
  fs::create_directory(session_.path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", root);
  EXPECT_EQ(Found(), paths_.memory_roots[1]) << "a link";
  fs::remove(root);
  std::ofstream(root) << "a file";
  EXPECT_EQ(Found(), paths_.memory_roots[1]) << "a file";
  fs::remove(root);
  EXPECT_EQ(Found(), root);
  paths_.memory_roots[0] = session_.path() / "nowhere" / "fieldcost";
  EXPECT_EQ(Found(), paths_.memory_roots[1]) << "no session";
}

TEST_F(MemoryDirTest, AnotherUsersRootIsPassedOver) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  const fs::path root = paths_.memory_roots[0];
  fs::create_directory(root);
  fs::permissions(root, fs::perms(0700));
  ASSERT_EQ(::chown(root.c_str(), 65534, 65534), 0);
  EXPECT_EQ(Found(), paths_.memory_roots[1]);
  fs::remove(root);
  // Nor a directory that would be created where another user can make changes: `sudo -E` keeps
  // XDG_RUNTIME_DIR.
  ASSERT_EQ(::chown(session_.path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(Found(), paths_.memory_roots[1]);
  ASSERT_EQ(::chmod(session_.path().c_str(), 01777), 0);
  EXPECT_EQ(Found(), root) << "as in /dev/shm";
}

TEST_F(MemoryDirTest, ReportsWhyThereIsNone) {
  const fs::path open = machine_.path() / "open";
  fs::create_directory(open);
  fs::permissions(open, fs::perms(0755));
  paths_.memory_roots = {disk_.path() / "fieldcost", open, "/nowhere/fieldcost"};
  EXPECT_THAT(Problem(), HasSubstr("nothing can be measured"));
  EXPECT_THAT(Problem(), HasSubstr(disk_.path().string() + " is not on tmpfs"));
  EXPECT_THAT(Problem(), HasSubstr(open.string() + " is open to other users (mode 755)"));
  EXPECT_THAT(Problem(), HasSubstr("/nowhere"));
  EXPECT_EQ(Problem().find('\n'), std::string::npos);
  // The policy contains it, and nothing is created.
  ASSERT_TRUE(runs::WritePolicyFile(paths_, AgentConfig{}, true, {}));
  const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
  ASSERT_TRUE(bytes);
  shm::PolicyHeader header;
  bytes->copy(reinterpret_cast<char*>(&header), sizeof header);
  EXPECT_EQ(header.memory_root_bytes, 0U);
  EXPECT_EQ(header.memory_dir[0], '\0');
  EXPECT_FALSE(fs::exists(disk_.path() / "fieldcost"));
  EXPECT_FALSE(fs::exists(paths_.run_dir()));
}

TEST_F(MemoryDirTest, IgnoresNamesThatAreTooLong) {
  paths_.state_dir = "/" + std::string(300, 'a') + "/" + std::string(300, 'b');
  EXPECT_THAT(Problem(), HasSubstr("too long"));
}

TEST_F(MemoryDirTest, ThePolicyNamesTheDirectory) {
  ASSERT_TRUE(runs::WritePolicyFile(paths_, AgentConfig{}, true, {}));
  const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
  ASSERT_TRUE(bytes);
  shm::PolicyHeader header;
  bytes->copy(reinterpret_cast<char*>(&header), sizeof header);
  const auto memory = FindMemoryDir(paths_);
  ASSERT_TRUE(memory);
  EXPECT_EQ(header.memory_dir, memory->directory.string());
  EXPECT_EQ(header.memory_root_bytes, memory->root.string().size());
}

TEST_F(MemoryDirTest, RunFilesAreLookedForWhereverTheyMayBe) {
  ASSERT_TRUE(MakeMemoryDir(paths_));
  const fs::path first = paths_.run_dir();
  std::swap(paths_.memory_roots[0], paths_.memory_roots[1]);
  ASSERT_TRUE(MakeMemoryDir(paths_));
  EXPECT_THAT(RunDirectories(paths_), ElementsAre(paths_.run_dir(), first));
}

TEST_F(MemoryDirTest, TriesRootsOfSessionThenUserThenMachine) {
  const std::string user = std::to_string(::geteuid());
  const char* before = ::getenv("XDG_RUNTIME_DIR");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("XDG_RUNTIME_DIR", "/run/mine", 1);
  EXPECT_THAT(MemoryRoots(), ElementsAre("/run/mine/fieldcost", "/run/user/" + user + "/fieldcost",
                                         "/dev/shm/fieldcost-" + user));
  ::setenv("XDG_RUNTIME_DIR", ("/run/user/" + user).c_str(), 1);
  const auto usual = ElementsAre("/run/user/" + user + "/fieldcost", "/dev/shm/fieldcost-" + user);
  EXPECT_THAT(MemoryRoots(), usual);
  ::setenv("XDG_RUNTIME_DIR", "here", 1);
  EXPECT_THAT(MemoryRoots(), usual) << "a relative one does not count";
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_THAT(MemoryRoots(), usual);
  if (before != nullptr) ::setenv("XDG_RUNTIME_DIR", saved.c_str(), 1);
}

}  // namespace
}  // namespace fieldcost::settings
