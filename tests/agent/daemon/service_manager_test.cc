// Tests the real fieldcostd under a service manager, and under an administrator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/daemon/daemon_loop.h"
#include "tests/agent/volunteer/agent_fixture.h"
#include "tests/support/binary_dir.h"
#include "tests/support/notify_socket.h"
#include "tests/support/process.h"

namespace fieldcost::daemon {
namespace {

using testing::BackgroundProcess;
using ::testing::HasSubstr;
using testing::ProcessOptions;

class ServiceManagerTest : public volunteer::AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }

  void Decide(settings::Mode mode) {
    auto agent = volunteer::Agent::Open(paths_, SystemClock());
    ASSERT_TRUE(agent) << agent.error().message;
    ASSERT_TRUE(agent->SetMode(mode));
  }

  ProcessOptions Daemon() const {
    ProcessOptions options;
    options.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcostd"};
    options.environment = {{"FIELDCOST_HOME", directory_.path().string()},
                           {"NOTIFY_SOCKET", manager_.path()}};
    return options;
  }

  // The daemon's next notification; empty after a long silence.
  std::string Message() const { return manager_.Next(); }

  testing::NotifySocket manager_{directory_.path() / "notify"};
};

TEST_F(ServiceManagerTest, IsNotifiedOfReadinessReloadAndEnd) {
  Decide(settings::Mode::kLocal);
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
  Decide(settings::Mode::kOn);
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
  // SQLite closes a file late while it has it open twice; this does not accumulate.
  EXPECT_LT(descriptors(), before + 10);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(ServiceManagerTest, JournalGetsLevelsInsteadOfTimes) {
  Decide(settings::Mode::kLocal);
  ProcessOptions options = Daemon();
  // As set by the service manager: the device and inode of standard error.
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

// Runs the loop in a child process with the administrator's file of this test; the child's exit
// status is 0 if it ended because collection is forbidden.
TEST_F(ServiceManagerTest, AdministratorEndsItAtOnceWhereverTheFileAppears) {
  for (const char* place : {"system.toml", "etc/fieldcost/system.toml"}) {
    paths_.system_file = directory_.path() / place;
    Decide(settings::Mode::kOn);
    ASSERT_TRUE(PolicySaysMeasure());
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::setenv("NOTIFY_SOCKET", manager_.path().c_str(), 1);
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
    EXPECT_EQ(settings::LoadConsent(paths_.consent_file())->mode, settings::Mode::kOn)
        << "the user's word stands";
    std::filesystem::remove(paths_.system_file);
  }
}

}  // namespace
}  // namespace fieldcost::daemon
