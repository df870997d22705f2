// The real fieldcostd under a service manager, and under an administrator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "agent/daemon/daemon_loop.h"
#include "common/systemd/notify.h"
#include "tests/agent/daemon/agent_fixture.h"
#include "tests/support/process.h"

namespace fieldcost::agent {
namespace {

using testing::BackgroundProcess;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessOptions;

class ServiceManagerTest : public AgentFixture {
 protected:
  void SetUp() override {
    WriteConfig();
    socket_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, Socket().c_str(), sizeof name.sun_path - 1);
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  }

  std::string Socket() const { return (directory_.path() / "notify").string(); }

  void Decide(Mode mode) {
    auto agent = Agent::Open(paths_, SystemClock());
    ASSERT_TRUE(agent) << agent.error().message;
    ASSERT_TRUE(agent->SetMode(mode));
  }

  ProcessOptions Daemon() const {
    ProcessOptions options;
    options.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcostd"};
    options.environment = {{"FIELDCOST_HOME", directory_.path().string()},
                           {"NOTIFY_SOCKET", Socket()}};
    return options;
  }

  // What the daemon says next; empty if it says nothing for long.
  std::string Message() const {
    constexpr int kLimitMs = 30'000;
    pollfd polled{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&polled, 1, kLimitMs) != 1) return {};
    char buffer[1024];
    const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

  UniqueFd socket_;
};

TEST_F(ServiceManagerTest, IsToldOfReadinessReloadAndEnd) {
  Decide(Mode::kLocal);
  BackgroundProcess daemon(Daemon());
  EXPECT_THAT(Message(), HasSubstr("READY=1"));
  daemon.Signal(SIGHUP);
  const std::string reloading = Message();
  EXPECT_THAT(reloading, HasSubstr("RELOADING=1"));
  EXPECT_THAT(reloading, HasSubstr("MONOTONIC_USEC="));
  EXPECT_THAT(Message(), HasSubstr("READY=1"));
  daemon.Signal(SIGTERM);
  EXPECT_THAT(Message(), HasSubstr("STOPPING=1"));
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(ServiceManagerTest, TakesADaemonWithNothingToDoForNoFailure) {
  const auto result = testing::RunProcess(Daemon());
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(Message(), HasSubstr("READY=1"));
}

TEST_F(ServiceManagerTest, ReloadsLeaveNoDescriptorOpen) {
  Decide(Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_THAT(Message(), HasSubstr("READY=1"));
  const auto descriptors = [&] {
    const std::filesystem::directory_iterator entries("/proc/" + std::to_string(daemon.pid()) +
                                                      "/fd");
    return std::distance(begin(entries), end(entries));
  };
  const auto reload = [&](int times) {
    for (int i = 0; i < times; ++i) {
      daemon.Signal(SIGHUP);
      ASSERT_THAT(Message(), HasSubstr("RELOADING=1"));
      ASSERT_THAT(Message(), HasSubstr("READY=1"));
    }
  };
  const auto before = descriptors();
  reload(30);
  // SQLite closes a file late while it has it open twice; that does not add up.
  EXPECT_LT(descriptors(), before + 10);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(ServiceManagerTest, JournalGetsLevelsInsteadOfTimes) {
  Decide(Mode::kLocal);
  ProcessOptions options = Daemon();
  // As the manager sets it: the device and inode of standard error.
  options.arguments = {
      "sh", "-c",
      "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec " + options.arguments[0]};
  BackgroundProcess daemon(options);
  ASSERT_THAT(Message(), HasSubstr("READY=1"));
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file, "[nonsense]\nx = 1\n", 0600));
  daemon.Signal(SIGHUP);
  std::string line;
  ASSERT_TRUE(daemon.WaitForLine("the old settings stay", &line));
  EXPECT_THAT(line, ::testing::StartsWith("<3>reload: "));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(ServiceManagerTest, AnotherStreamIsNoJournal) {
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(systemd::LogsToJournal());
  for (const char* other : {"", "1", "1:1", "nonsense"}) {
    ::setenv("JOURNAL_STREAM", other, 1);
    EXPECT_FALSE(systemd::LogsToJournal()) << other;
  }
  ::unsetenv("JOURNAL_STREAM");
}

// Runs the loop in a child process with the administrator's file of this test; the child's exit
// status is 0 if it ended because collection is forbidden.
TEST_F(ServiceManagerTest, AdministratorEndsItAtOnceWhereverTheFileAppears) {
  for (const char* place : {"system.toml", "etc/fieldcost/system.toml"}) {
    paths_.system_file = directory_.path() / place;
    Decide(Mode::kOn);
    ASSERT_TRUE(PolicySaysMeasure());
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::setenv("NOTIFY_SOCKET", Socket().c_str(), 1);
      auto loop = DaemonLoop::Start(paths_, SystemClock());
      if (!loop) ::_exit(1);
      const auto ended = loop->Run();
      ::_exit(ended && ended->find("not permitted") != std::string::npos ? 0 : 2);
    }
    ASSERT_THAT(Message(), HasSubstr("READY=1"));
    ASSERT_TRUE(MakeDirectories(paths_.system_file.parent_path(), 0755));
    ASSERT_TRUE(WriteFileAtomically(paths_.system_file, "[consent]\npermit = false\n", 0644));
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << place << ' ' << status;
    EXPECT_FALSE(PolicySaysMeasure());
    std::string last;
    while (last.find("STOPPING=1") == std::string::npos) {
      last = Message();
      ASSERT_NE(last, "");
    }
    EXPECT_THAT(last, HasSubstr(paths_.system_file.string()));
    EXPECT_EQ(LoadConsent(paths_.consent_file())->mode, Mode::kOn) << "the user's word stands";
    std::filesystem::remove(paths_.system_file);
  }
}

}  // namespace
}  // namespace fieldcost::agent
