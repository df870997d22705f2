// Tests the real fieldcostd against a real HTTPS server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "agent/runs/policy_writer.h"
#include "tests/agent/volunteer/agent_fixture.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/binary_dir.h"
#include "tests/support/fake_time.h"
#include "tests/support/process.h"

namespace fieldcost::daemon {
namespace {

using testing::BackgroundProcess;
using ::testing::HasSubstr;
using testing::ProcessOptions;
using testing::ProcessResult;
using testing::RunProcess;

class DaemonTest : public volunteer::AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }

  // The daemon uses the real clock, so the runs and the consent must, too.
  void Consent(settings::Mode mode) {
    auto agent = volunteer::Agent::Open(paths_, SystemClock());
    ASSERT_TRUE(agent) << agent.error().message;
    ASSERT_TRUE(agent->SetMode(mode));
  }

  testing::RunFileOptions RunOptions() const {
    testing::RunFileOptions options;
    options.start_unix_ns =
        static_cast<std::uint64_t>(SystemClock().Now().time_since_epoch().count()) * 1000;
    return options;
  }

  ProcessOptions Daemon(std::vector<std::string> arguments = {}) const {
    ProcessOptions options;
    options.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcostd"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.environment = {{"FIELDCOST_HOME", directory_.path().string()}};
    return options;
  }

  // Written elsewhere and renamed, so that a half-written file is never visible.
  void MoveRunIn(const std::string& name, const std::vector<std::uint64_t>& values) {
    const auto new_file = RunPath(name).parent_path().parent_path() / "new";
    {
      testing::RunFileWriter file(new_file, RunOptions());
      for (const std::uint64_t value : values) file.Add(value);
    }
    std::filesystem::rename(new_file, RunPath(name));
  }

  static std::string AllOf(const ProcessResult& result) { return result.output + result.errors; }
};

TEST_F(DaemonTest, ModeOffDoesNothingAndReportsIt) {
  const auto before = Listing();
  for (const auto& arguments : std::vector<std::vector<std::string>>{{}, {"--once"}}) {
    const ProcessResult result = RunProcess(Daemon(arguments));
    EXPECT_EQ(result.exit_status, 0) << AllOf(result);
    EXPECT_THAT(result.output, HasSubstr("collection is off"));
  }
  EXPECT_EQ(Listing(), before);
}

TEST_F(DaemonTest, OnceHarvestsAndFlushSends) {
  Consent(settings::Mode::kOn);
  WriteRun("a", {3, 7, 22}, RunOptions());
  ProcessResult result = RunProcess(Daemon({"--once"}));
  EXPECT_EQ(result.exit_status, 0) << AllOf(result);
  EXPECT_THAT(result.output, HasSubstr("harvested 3 calls of 1 run file"));
  EXPECT_EQ(server_->requests(), 0U);
  result = RunProcess(Daemon({"--once", "--flush"}));
  EXPECT_EQ(result.exit_status, 0) << AllOf(result);
  EXPECT_THAT(result.output, HasSubstr("sent 1 batch "));
  EXPECT_EQ(server_->Rows(stats::Metric::kWallTime)[0].histogram, HistogramOf({3, 7, 22}));
}

TEST_F(DaemonTest, HarvestsWhenAProgramClosesItsRunFileAndStopsWhenAsked) {
  Consent(settings::Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  MoveRunIn("a", {5});
  EXPECT_TRUE(daemon.WaitForLine("harvested 1 call "));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, HarvestsSoonAfterAProgramThatHeldItsFileByTheMappingAloneIsKilled) {
  Consent(settings::Mode::kLocal);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  MoveRunIn("a", {5});
  ASSERT_TRUE(daemon.WaitForLine("harvested 1 call ")) << "from now on it has nothing to look for";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    testing::RunFileOptions options = RunOptions();
    options.living = true;
    testing::RunFileWriter file(RunPath("b"), options);
    file.Add(6);
    file.Add(7);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // Less than the minute after which the daemon checks without a notification.
  EXPECT_TRUE(daemon.WaitForLine("harvested 2 calls", nullptr, std::chrono::seconds(30)));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

// The file system of run files may disappear with the session or a reboot.
TEST_F(DaemonTest, HarvestsOnceMoreWhenItIsStopped) {
  Consent(settings::Mode::kLocal);
  testing::RunFileOptions options = RunOptions();
  options.living = true;
  testing::RunFileWriter file(RunPath("a"), options);
  file.Add(1);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("harvested 1 call "));
  file.Add(2);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
  EXPECT_EQ(Sum(*OpenAgent().LocalRows()), HistogramOf({1, 2}));
}

TEST_F(DaemonTest, ASecondDaemonOfAUserReportsItAndExits) {
  Consent(settings::Mode::kLocal);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  const ProcessResult second = RunProcess(Daemon());
  EXPECT_EQ(second.exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  EXPECT_THAT(second.errors, HasSubstr("another fieldcostd"));
  daemon.Signal(SIGINT);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, EndsWhenConsentIsWithdrawn) {
  Consent(settings::Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  Consent(settings::Mode::kOff);
  const ProcessResult result = daemon.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("collection is off"));
}

TEST_F(DaemonTest, InModeOffOnlyPicksByHandRemain) {
  Consent(settings::Mode::kOn);
  Consent(settings::Mode::kOff);
  testing::RunFileOptions options = RunOptions();
  options.living = true;
  const testing::RunFileWriter living(RunPath("living"), options);
  options.forced = true;
  const testing::RunFileWriter picked(RunPath("picked"), options);
  EXPECT_EQ(RunProcess(Daemon()).exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(RunPath("living")));
  EXPECT_TRUE(std::filesystem::exists(RunPath("picked")));
}

TEST_F(DaemonTest, ARemovedDecisionEndsItAtOnce) {
  Consent(settings::Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  testing::RunFileOptions options = RunOptions();
  options.living = true;
  const testing::RunFileWriter living(RunPath("living"), options);
  std::filesystem::remove(paths_.consent_file());
  const ProcessResult result = daemon.Wait();
  EXPECT_FALSE(std::filesystem::exists(RunPath("living")));
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("collection is off"));
  EXPECT_FALSE(PolicySaysMeasure());
}

TEST_F(DaemonTest, ADecisionThatCannotBeReadStopsProgramsToo) {
  Consent(settings::Mode::kOn);
  ASSERT_TRUE(PolicySaysMeasure());
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  ASSERT_TRUE(WriteFileAtomically(paths_.consent_file(), "perhaps\n", 0600));
  EXPECT_EQ(daemon.Wait().exit_status, ExitStatus(ErrorCode::kCorrupt));
  EXPECT_FALSE(PolicySaysMeasure());
}

TEST_F(DaemonTest, StopsProgramsAtItsStartDespiteOtherErrors) {
  Consent(settings::Mode::kOn);
  ASSERT_TRUE(PolicySaysMeasure());
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file, "[nonsense]\nx = 1\n", 0600));
  ASSERT_TRUE(WriteFileAtomically(paths_.consent_file(), "perhaps\n", 0600));
  EXPECT_EQ(RunProcess(Daemon()).exit_status, ExitStatus(ErrorCode::kCorrupt));
  EXPECT_FALSE(PolicySaysMeasure());
}

TEST_F(DaemonTest, MakesTheRunDirectoryAgainAndHarvestsThere) {
  Consent(settings::Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  std::filesystem::remove_all(paths_.run_dir());
  ASSERT_TRUE(daemon.WaitForLine("was removed"));
  MoveRunIn("a", {1, 2, 3});
  EXPECT_TRUE(daemon.WaitForLine("harvested 3 calls"));
  std::filesystem::rename(paths_.run_dir(), paths_.run_dir().parent_path() / "elsewhere");
  ASSERT_TRUE(daemon.WaitForLine("was removed"));
  MoveRunIn("b", {1, 2, 3, 4});
  EXPECT_TRUE(daemon.WaitForLine("harvested 4 calls"));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

// Sending leaves a thread of the resolver. The kernel may choose any thread that does not block the
// signal.
TEST_F(DaemonTest, StopsWhicheverThreadReceivesTheSignal) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  Consent(settings::Mode::kOn);
  WriteRun("a", {3, 7, 22}, RunOptions());
  ASSERT_EQ(RunProcess(Daemon({"--once"})).exit_status, 0);
  const auto due = volunteer::Agent::Open(paths_, SystemClock())->NextUpload();
  ASSERT_TRUE(due && *due);
  const auto ahead = std::chrono::ceil<std::chrono::seconds>(**due - SystemClock().Now());
  BackgroundProcess daemon(testing::AtOffset(Daemon(), "+" + std::to_string(ahead.count()) + "s"));
  ASSERT_TRUE(daemon.WaitForLine("sent 1 batch "));
  MoveRunIn("b", {5});
  ASSERT_TRUE(daemon.WaitForLine("harvested 1 call ")) << "the request is over";
  pid_t other = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(daemon.pid()) + "/task")) {
    const pid_t id = std::stoi(thread.path().filename());
    if (id != daemon.pid()) other = id;
  }
  ASSERT_NE(other, 0) << "the resolver's thread";
  ASSERT_EQ(::tgkill(daemon.pid(), other, SIGTERM), 0);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, HangupReadsTheConfigurationAgain) {
  Consent(settings::Mode::kOn);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file, "[nonsense]\nx = 1\n", 0600));
  daemon.Signal(SIGHUP);
  EXPECT_TRUE(daemon.WaitForLine("the old settings stay"));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, WritesThePolicyAgainWhenItWakesAndTheCatalogueHasChanged) {
  Consent(settings::Mode::kLocal);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  const std::uint32_t serial = runs::PolicySerial(paths_.policy_file());
  testing::Publisher publisher(SystemClock().Now());
  stats::StatRow row = testing::MakeRow("libvictim.so.1", "victim_call", 5, 7);
  row.key.week = 0;
  row.key.hardware = {};
  publisher.Publish({row}, 1, SystemClock().Now());
  catalog::SyncOptions options = publisher.Client(directory_.path());
  options.full = true;
  ASSERT_TRUE(Sync(options, SystemClock()));
  MoveRunIn("a", {5});
  ASSERT_TRUE(daemon.WaitForLine("harvested 1 call "));
  EXPECT_EQ(runs::PolicySerial(paths_.policy_file()), serial + 1)
      << "it has the weight of one function now";
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, RefreshesTheCatalogueOnceThatIsSwitchedOnAlsoWithoutSending) {
  testing::Publisher publisher(SystemClock().Now());
  publisher.Publish(testing::MakeRows(8, 5), 1, SystemClock().Now());
  const catalog::SyncOptions service = publisher.Client(directory_.path());
  std::filesystem::copy_file(service.root_file, paths_.catalog_root_file,
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_TRUE(WriteFileAtomically(
      paths_.config_file,
      "[upload]\non_battery = true\non_metered = true\n[aggregator]\nurl = "
      "\"" +
          service.server.url + "\"\nca_file = \"" + service.server.ca_file.string() + "\"\n",
      0600));
  Consent(settings::Mode::kLocal);
  BackgroundProcess daemon(Daemon());
  ASSERT_TRUE(daemon.WaitForLine("watching"));
  MoveRunIn("a", {5});
  ASSERT_TRUE(daemon.WaitForLine("harvested 1 call "));
  EXPECT_TRUE(publisher.TakeRequests().empty()) << "off until switched on";
  ASSERT_TRUE(WriteFileAtomically(paths_.refresh_file(), "on\n", 0600));
  EXPECT_TRUE(daemon.WaitForLine("refreshed the catalogue: "));
  EXPECT_FALSE(publisher.TakeRequests().empty());
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
}

TEST_F(DaemonTest, BadInputIsOneLineAndAnExitStatus) {
  Consent(settings::Mode::kOn);
  struct Row {
    std::vector<std::string> arguments;
    std::string config;
    ErrorCode code;
    std::string in_message;
  };
  const std::vector<Row> table = {
      {{"--nonsense"}, "", ErrorCode::kInvalidArgument, "--nonsense"},
      {{"--flush"}, "", ErrorCode::kInvalidArgument, "--once"},
      {{"--once"}, "[batch]\nmax_bach = 1\n", ErrorCode::kInvalidArgument, "max_bach"},
      {{}, "[batch\n", ErrorCode::kInvalidArgument, "agent.toml"},
      {{"--once", "--flush"},
       "[modules]\nextra_modules = [\"libvictim.so.1\"]\n[aggregator]\nurl = \"" + server_->url() +
           "\"\nca_file = \"/nonexistent/ca.pem\"\n",
       ErrorCode::kInvalidArgument,
       "/nonexistent/ca.pem"},
      {{"--once", "--flush"},
       "[modules]\nextra_modules = [\"libvictim.so.1\"]\n",
       ErrorCode::kInvalidArgument,
       "url is not set"},
  };
  WriteRun("a", {3}, RunOptions());
  for (const Row& row : table) {
    if (!row.config.empty()) {
      ASSERT_TRUE(WriteFileAtomically(paths_.config_file, row.config, 0600));
    }
    const ProcessResult result = RunProcess(Daemon(row.arguments));
    EXPECT_EQ(result.exit_status, ExitStatus(row.code)) << AllOf(result);
    EXPECT_THAT(result.errors, HasSubstr(row.in_message));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
  WriteConfig();
  EXPECT_EQ(RunProcess(Daemon({"--once", "--flush"})).exit_status, 0);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 1U) << "nothing was lost meanwhile";
}

TEST_F(DaemonTest, UnusableStateIsOneClearMessage) {
  Consent(settings::Mode::kOn);
  ASSERT_TRUE(WriteFileAtomically(paths_.consent_file(), "perhaps\n", 0600));
  ProcessResult result = RunProcess(Daemon());
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kCorrupt));
  EXPECT_THAT(result.errors, HasSubstr(paths_.consent_file().string()));
  std::filesystem::remove_all(paths_.state_dir);
  ASSERT_TRUE(WriteFileAtomically(paths_.state_dir, "a file", 0600));
  result = RunProcess(Daemon());
  EXPECT_THAT(AllOf(result), HasSubstr("off"));
  std::filesystem::remove(paths_.state_dir);
  Consent(settings::Mode::kOn);
  ASSERT_TRUE(WriteFileAtomically(paths_.state_dir / "agent.db", "not a database at all", 0600));
  result = RunProcess(Daemon({"--once"}));
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kCorrupt)) << AllOf(result);
  EXPECT_THAT(result.errors, HasSubstr("agent.db"));
}

TEST_F(DaemonTest, KilledAtAnyMomentCountsEveryCallExactlyOnce) {
  constexpr int kKills = 24;
  constexpr int kMaxCycles = 400;
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  Consent(settings::Mode::kOn);
  stats::CostHistogram expected;
  testing::RunFileOptions living_options = Living();
  living_options.start_unix_ns = RunOptions().start_unix_ns;
  testing::RunFileWriter living(RunPath("living"), living_options);
  int run = 0;
  int killed = 0;
  for (int cycle = 0; killed < kKills && cycle < kMaxCycles; ++cycle) {
    for (std::uint64_t files = random() % 4; files > 0; --files) {
      testing::RunFileWriter file(RunPath("r" + std::to_string(run++)), RunOptions());
      for (std::uint64_t calls = random() % 20 + 1; calls > 0; --calls) {
        const std::uint64_t value = random() % 100'000;
        file.Add(value, static_cast<std::uint32_t>(calls));
        expected.Add(value);
      }
    }
    const std::uint64_t value = random() % 1000;
    living.Add(value);
    expected.Add(value);
    if (random() % 4 == 0) {
      server_->Script({.status = 503,
                       .headers = {},
                       .body = {},
                       .never = random() % 2 == 0,
                       .counted = random() % 2 == 0});
    }
    BackgroundProcess daemon(Daemon({"--once", "--flush"}));
    // At a random moment of its life, which lasts as long as a few dozen short processes.
    for (std::uint64_t left = random() % 20; left > 0; --left) RunProcess({.arguments = {"true"}});
    daemon.Signal(SIGKILL);
    if (daemon.Wait().signal == SIGKILL) ++killed;
  }
  living.End();
  int tries = 0;
  while (RunProcess(Daemon({"--once", "--flush"})).exit_status != 0 && tries < kMaxCycles) ++tries;
  EXPECT_EQ(killed, kKills);
  stats::CostHistogram counted;
  for (const auto& row : server_->Rows(stats::Metric::kWallTime)) counted.Merge(row.histogram);
  EXPECT_EQ(counted, expected);
  EXPECT_EQ(server_->bad_requests(), 0U);
  auto agent = volunteer::Agent::Open(paths_, SystemClock());
  ASSERT_TRUE(agent);
  EXPECT_EQ(Sum(*agent->LocalRows()), expected);
  EXPECT_EQ(agent->GetStatus()->measuring.run_files, 0U);
}

}  // namespace
}  // namespace fieldcost::daemon
