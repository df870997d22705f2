// The reasons shown by `fieldcost agent status` why programs are not measured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "common/shm/skip_file.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using ::testing::HasSubstr;

class StatusTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }

  std::string Problem(const Agent& agent) const {
    const auto status = agent.GetStatus();
    EXPECT_TRUE(status) << status.error().message;
    return status ? status->measuring.policy_problem : "";
  }

  // The same in a child process with its own mounts. nullopt if that is not permitted.
  std::optional<std::string> ProblemAfter(const std::function<bool()>& mount) {
    int result[2];
    EXPECT_EQ(::pipe(result), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mount()) {
        ::_exit(1);
      }
      auto agent = Agent::Open(paths_, clock_);
      const std::string problem = agent ? "problem: " + Problem(*agent) : agent.error().message;
      const auto size = static_cast<ssize_t>(problem.size());
      ::_exit(::write(result[1], problem.data(), problem.size()) == size ? 0 : 1);
    }
    ::close(result[1]);
    char text[4096];
    const ssize_t got = ::read(result[0], text, sizeof text);
    ::close(result[0]);
    ::waitpid(child, nullptr, 0);
    if (got <= 0) return std::nullopt;
    return std::string(text, static_cast<std::size_t>(got));
  }
};

TEST_F(StatusTest, ReportsNoProblemWithoutOne) {
  EXPECT_EQ(Problem(OpenAgent()), "");
  EXPECT_EQ(Problem(OpenAgent(settings::Mode::kOn)), "");
}

TEST_F(StatusTest, ReportsUnmeasuredRunsByReason) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  EXPECT_TRUE(agent.GetStatus()->measuring.skips.empty());
  auto bytes = ReadFile(paths_.skip_file(), sizeof(shm::SkipFile));
  ASSERT_TRUE(bytes) << "the policy brings it";
  shm::SkipFile skips;
  std::memcpy(&skips, bytes->data(), sizeof skips);
  skips.counts[static_cast<std::uint32_t>(shm::Skip::kNoLease)] = 42;
  std::memcpy(bytes->data(), &skips, sizeof skips);
  ASSERT_TRUE(WriteFileAtomically(paths_.skip_file(), *bytes, 0600));
  ASSERT_TRUE(agent.WritePolicy());
  EXPECT_THAT(
      agent.GetStatus()->measuring.skips,
      ::testing::ElementsAre(runs::SkipCount{.reason = "enough other programs were being measured",
                                             .runs = 42,
                                             .skip = shm::Skip::kNoLease}));
}

TEST_F(StatusTest, PolicyOfAnotherVersionIsNamed) {
  const Agent agent = OpenAgent(settings::Mode::kOn);
  auto bytes = ReadFile(paths_.policy_file(), 1 << 20);
  ASSERT_TRUE(bytes);
  (*bytes)[8] = 2;
  ASSERT_TRUE(WriteFileAtomically(paths_.policy_file(), *bytes, 0600));
  EXPECT_THAT(Problem(agent), HasSubstr("not a policy file of this version"));
}

TEST_F(StatusTest, RecreatesAMissingRunDirectoryWithThePolicy) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  std::filesystem::remove_all(paths_.run_dir());
  EXPECT_EQ(Problem(agent), "") << "programs make it";
  ASSERT_TRUE(agent.WritePolicy());
  EXPECT_TRUE(std::filesystem::is_directory(paths_.run_dir()));
}

TEST_F(StatusTest, ReportsMissingMemoryForRunFiles) {
  paths_.memory_roots = {"/nowhere/fieldcost"};
  Agent agent = OpenAgent(settings::Mode::kOn);
  EXPECT_THAT(Problem(agent), HasSubstr("no tmpfs for run files"));
  EXPECT_TRUE(agent.Harvest());
}

TEST_F(StatusTest, DiskThatIsFullOrReadOnlyIsNamed) {
  OpenAgent(settings::Mode::kOn);
  struct Row {
    const char* options;
    unsigned long flags;
    const char* in_message;
  };
  constexpr Row kTable[] = {
      {"size=16m", 0, "problem: "},
      {"size=64k", 0, "is full"},
      {"size=16m,nr_inodes=1", 0, "is full"},
      {"size=16m", MS_RDONLY, "Read-only file system"},
  };
  for (const Row& row : kTable) {
    const auto problem = ProblemAfter([&] {
      return ::mount("none", paths_.run_dir().c_str(), "tmpfs", row.flags, row.options) == 0;
    });
    if (!problem) GTEST_SKIP() << "no mount namespace";
    EXPECT_THAT(*problem, ::testing::EndsWith(row.in_message));
    if (std::string(row.in_message) != "problem: ") {
      EXPECT_THAT(*problem, HasSubstr(paths_.run_dir().string()));
    }
  }
}

TEST_F(StatusTest, DirectoryThatTheUserMayNotWriteInIsNamed) {
  const testing::TempDir memory(testing::kMemory);
  paths_.memory_roots = {memory.path()};
  OpenAgent(settings::Mode::kOn);
  std::filesystem::permissions(
      paths_.run_dir(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  if (::geteuid() == 0) {
    // Root may write everywhere, so run as `nobody`, which owns everything but may not write here.
    for (const auto& directory : {directory_.path(), memory.path()}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        ASSERT_EQ(::lchown(entry.path().c_str(), 65534, 65534), 0);
      }
      ASSERT_EQ(::lchown(directory.c_str(), 65534, 65534), 0);
    }
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const auto agent = Agent::Open(paths_, clock_);
  const std::string problem = agent ? Problem(*agent) : agent.error().message;
  if (::getuid() == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(problem, ::testing::EndsWith("runs: Permission denied"));
}

}  // namespace
}  // namespace fieldcost::volunteer
