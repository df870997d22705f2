// On full disks and read-only homes, every operation ends, reports the reason and loses nothing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using ::testing::HasSubstr;

constexpr char kNoNamespace[] = "no mount namespace";

class FaultTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }

  // Runs it in a child process with its own mounts; returns what the child writes.
  std::string InNamespace(const std::function<std::string()>& work) {
    int result[2];
    EXPECT_EQ(::pipe(result), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      std::string text = kNoNamespace;
      if (::unshare(CLONE_NEWNS) == 0 &&
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
        text = work();
      }
      const auto size = static_cast<ssize_t>(text.size());
      ::_exit(::write(result[1], text.data(), text.size()) == size ? 0 : 1);
    }
    ::close(result[1]);
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t got; (got = ::read(result[0], part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    ::close(result[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "ended by " << status;
    return text;
  }

  bool MountState(const char* options) const {
    return ::mount("none", paths_.state_dir.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
  }

  // Performs every operation of an agent; returns one line per result.
  static std::string TryEverything(Agent& agent) {
    const std::vector<std::pair<const char*, std::function<Status()>>> kOperations = {
        {"harvest", [&] { return Without(agent.Harvest()); }},
        {"upload", [&] { return Without(agent.Upload(UploadWish::kEverythingNow)); }},
        {"upload when due", [&] { return Without(agent.Upload(UploadWish::kWhatIsDue)); }},
        {"next upload", [&] { return Without(agent.NextUpload()); }},
        {"preview", [&] { return Without(agent.Preview()); }},
        {"log", [&] { return Without(agent.Log()); }},
        {"status", [&] { return Without(agent.GetStatus()); }},
        {"token", [&] { return agent.SetEnrolmentToken("token"); }},
        {"forget", [&] { return Without(agent.Forget()); }},
        {"policy", [&] { return agent.WritePolicy(); }},
    };
    std::string said;
    for (const auto& [name, operation] : kOperations) {
      const Status status = operation();
      said += std::string(name) + ": " + (status ? "fine" : status.error().message) + "\n";
    }
    return said;
  }

  template <typename T>
  static Status Without(const Result<T>& result) {
    if (!result) return result.error();
    return {};
  }
};

// A file that fills the remaining space.
void FillDisk(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  for (std::size_t size = 65536; size > 0; size /= 2) {
    const std::string bytes(size, 'x');
    while (::write(fd, bytes.data(), size) == static_cast<ssize_t>(size)) {
    }
  }
  ::close(fd);
}

TEST_F(FaultTest, AFullDiskStopsWhatNeedsRoomAndLosesNothing) {
  ASSERT_TRUE(MakeDirectories(paths_.state_dir, 0700));
  const std::string said = InNamespace([&]() -> std::string {
    if (!MountState("size=1m,mode=0700")) return kNoNamespace;
    Agent agent = OpenAgent(settings::Mode::kOn);
    WriteRun("a", {3});
    if (!agent.Harvest() || agent.Upload(UploadWish::kEverythingNow)->batches_sent != 1)
      return "not set up";
    WriteRun("b", {4});
    if (!agent.Harvest()) return "not set up";
    WriteRun("c", {5});
    const std::filesystem::path filler = paths_.state_dir / "filler";
    FillDisk(filler);
    std::string text = TryEverything(agent);
    std::filesystem::remove(filler);
    const auto harvest = agent.Harvest();
    const auto upload = agent.Upload(UploadWish::kEverythingNow);
    text += harvest && upload && !upload->stopped_by ? "fine again\n" : "still broken\n";
    return text;
  });
  if (said == kNoNamespace) GTEST_SKIP() << kNoNamespace;
  EXPECT_THAT(said, HasSubstr("fine again"));
  EXPECT_THAT(said, HasSubstr("full")) << "the reason is given";
  EXPECT_THAT(said, HasSubstr("log: fine"));
  EXPECT_EQ(server_->bad_requests(), 0U);
  // The first batch was withdrawn if `forget` had enough space; nothing arrived twice.
  EXPECT_LE(server_->Calls(stats::Metric::kWallTime), 3U);
}

TEST_F(FaultTest, SendsOnlyBatchesThatCanBeMarkedAsTried) {
  ASSERT_TRUE(MakeDirectories(paths_.state_dir, 0700));
  const std::string said = InNamespace([&]() -> std::string {
    if (!MountState("size=1m,mode=0700")) return kNoNamespace;
    Agent agent = OpenAgent(settings::Mode::kOn);
    WriteRun("a", {3});
    if (!agent.Harvest()) return "not set up";
    FillDisk(paths_.state_dir / "filler");
    const auto upload = agent.Upload(UploadWish::kEverythingNow);
    const auto again = Agent::Open(paths_, clock_);  // as the next process would
    return (upload ? "uploaded" : upload.error().message) + "\n" +
           (again ? "opened" : again.error().message);
  });
  if (said == kNoNamespace) GTEST_SKIP() << kNoNamespace;
  EXPECT_THAT(said, HasSubstr("full"));
  EXPECT_EQ(server_->requests(), 0U);
}

TEST_F(FaultTest, EachOperationReportsAReadOnlyHome) {
  {
    Agent agent = OpenAgent(settings::Mode::kOn);
    WriteRun("a", {3});
    ASSERT_TRUE(agent.Harvest());
  }
  const std::uint64_t before = server_->requests();
  const std::string said = InNamespace([&]() -> std::string {
    const char* const path = directory_.path().c_str();
    if (::mount(path, path, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return kNoNamespace;
    }
    auto agent = Agent::Open(paths_, clock_);
    return agent ? TryEverything(*agent) : agent.error().message;
  });
  if (said == kNoNamespace) GTEST_SKIP() << kNoNamespace;
  EXPECT_THAT(said, ::testing::AnyOf(HasSubstr("read-only"), HasSubstr("readonly"),
                                     HasSubstr("Read-only")));
  EXPECT_EQ(server_->requests(), before) << "what cannot be noted is not sent";
  Agent agent = OpenAgent();
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 1U);
}

}  // namespace
}  // namespace fieldcost::volunteer
