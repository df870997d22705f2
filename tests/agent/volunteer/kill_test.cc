// Kills daemons and measured programs at random moments, 300 times, with a server that fails, loses
// responses, and records what it accepts.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "agent/harvest/harvester.h"
#include "agent/runs/run_file_reader.h"
#include "common/base/clock.h"
#include "tests/agent/volunteer/agent_fixture.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"

namespace fieldcost::volunteer {
namespace {

using testing::BackgroundProcess;
using testing::ProcessOptions;
using testing::RunProcess;

constexpr int kKills = 300;
constexpr char kCanary[] = "made_before_consent";

// The calls of the functions that killed.c counts.
struct Counts {
  volatile std::uint64_t begun;
  volatile std::uint64_t over;
};

class SharedCounts {
 public:
  explicit SharedCounts(const std::filesystem::path& file) : file_(file) {
    const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd.get(), sizeof(Counts)), 0);
    void* const mapped =
        ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    EXPECT_NE(mapped, MAP_FAILED);
    counts_ = static_cast<Counts*>(mapped);
  }
  ~SharedCounts() { ::munmap(counts_, sizeof(Counts)); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  const Counts& operator*() const { return *counts_; }
  const std::string& file() const { return file_.native(); }

 private:
  std::filesystem::path file_;
  Counts* counts_ = nullptr;
};

class KillTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    server_->RecordTo(directory_.path() / "expected");
    // Every call of every program is timed, regardless of the machine's load.
    ASSERT_TRUE(WriteFileAtomically(
        paths_.config_file,
        "[aggregator]\nurl = \"" + server_->url() + "\"\nca_file = \"" +
            server_->certificates().ca.string() +
            "\"\n[modules]\nbuiltin_modules = false\n"
            "extra_modules = [\"libtally.so.1\", \"libvictim.so.1\"]\n"
            "[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
            "alloc_probability = 0\nio_probability = 0\ncycles_probability = 0\n"
            "max_load_per_core_percent = 0\nmax_cpu_pressure_percent = 0\nmax_programs = 0\n"
            "overhead_percent = 0\nphase_minutes = 0\nmax_run_files = 4096\n"
            "[upload]\non_battery = true\non_metered = true\n",
        0600));
  }

  // The programs use the real clock, so consent must, too.
  void Consent(settings::Mode mode) {
    auto agent = Agent::Open(paths_, SystemClock());
    ASSERT_TRUE(agent) << agent.error().message;
    ASSERT_TRUE(agent->SetMode(mode));
  }

  ProcessOptions Daemon(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), FIELDCOST_BINARY_DIR "/bin/fieldcostd");
    return {.arguments = std::move(arguments),
            .environment = {{"FIELDCOST_HOME", directory_.path().string()}}};
  }
  ProcessOptions Measured(const SharedCounts& counts) const {
    return {.arguments = {FIELDCOST_BINARY_DIR "/victims/killed", counts.file()},
            .environment = {{"LD_PRELOAD", FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so"},
                            {"FIELDCOST_STATE_DIR", paths_.state_dir.string()}},
            .unset = {"FIELDCOST_PICK", "FIELDCOST_METRICS"}};
  }

  // Waits for the duration of a few short processes.
  void Pass(std::uint64_t most) {
    for (std::uint64_t left = random_() % most; left > 0; --left) {
      RunProcess({.arguments = {"true"}});
    }
  }

  bool Kill(BackgroundProcess& process) {
    process.Signal(SIGKILL);
    return process.Wait().signal == SIGKILL;
  }

  // Daemons may be slow here compared to the processes that time the kills. Some must finish, or
  // nothing would be sent before the last one.
  void SendAll() {
    int tries = 0;
    while (RunProcess(Daemon({"--once", "--flush"})).exit_status != 0 && ++tries < kKills) {
    }
  }

  void MakeTheServerMisbehave() {
    const std::uint64_t kind = random_() % 40;
    if (kind >= 16) return;
    server_->Script({.status = kind < 8 ? 503 : 500,
                     .headers = {},
                     .body = {},
                     .never = kind == 0,
                     .counted = kind % 2 == 0});
  }

  static std::uint64_t CallsOf(const std::vector<stats::StatRow>& rows, const std::string& symbol) {
    std::uint64_t calls = 0;
    for (const stats::StatRow& row : rows) {
      if (row.key.api.symbol == symbol) calls += row.histogram.count();
    }
    return calls;
  }

  // Leaves runs that must never be sent, then gives consent.
  void MeasureBeforeConsent() {
    for (int i = 0; i < 5; ++i) {
      BackgroundProcess program(Measured(before_consent_));
      Pass(10);
      kills_ += Kill(program) ? 1 : 0;
    }
    testing::RunFileOptions old = Ended();
    old.start_unix_ns = MicrosOf(SystemClock().Now()) * 1000;
    old.picks[0].symbol = kCanary;
    WriteRun("old", {1, 2, 3}, old);
    Consent(settings::Mode::kOn);
    WriteRun("old-too", {1, 2, 3}, old);
  }

  void KillEverybody() {
    for (int round = 1; kills_ < kKills && !HasFailure(); ++round) {
      MakeTheServerMisbehave();
      BackgroundProcess program(Measured(counts_));
      BackgroundProcess daemon(random_() % 4 == 0 ? Daemon({}) : Daemon({"--once", "--flush"}));
      Pass(20);
      kills_ += Kill(program) ? 1 : 0;
      Pass(20);
      kills_ += Kill(daemon) ? 1 : 0;
      if (round % 16 == 0) SendAll();
    }
  }

  // The batches that the server accepted are exactly those that the agent lists as sent.
  void CheckBatches(const Agent& agent) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> taken;
    std::set<std::string> agents;
    std::ifstream expected(directory_.path() / "expected");
    std::string agent_key;
    std::string sha256;
    std::pair<std::uint64_t, std::uint64_t> number;
    while (expected >> agent_key >> number.first >> number.second >> sha256) {
      agents.insert(agent_key);
      EXPECT_EQ(taken.emplace(number, sha256).first->second, sha256) << "two batches of one number";
    }
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> sent;
    std::uint64_t last = 0;
    const auto log = agent.Log();
    ASSERT_TRUE(log) << log.error().message;
    for (const spool::LoggedBatch& batch : *log) {
      EXPECT_EQ(batch.state, spool::SpoolState::kSent) << batch.id;
      sent[{batch.epoch.value(), batch.sequence}] = batch.sha256;
      EXPECT_EQ(batch.sequence, ++last) << "no gaps";
    }
    EXPECT_EQ(taken, sent);
    EXPECT_GT(taken.size(), 5U);
    EXPECT_EQ(agents.size(), 1U);
    EXPECT_EQ(server_->bad_requests(), 0U);
  }

  // The server's sums equal the calls made, except for one call that each kill may have
  // interrupted.
  void CheckServersSums() {
    std::uint64_t received = 0;
    // Regardless of the machine's load.
    for (const auto metric : {stats::Metric::kWallTime, stats::Metric::kWallTimeBusy}) {
      for (const wire::UntrustedRow& row : server_->Rows(metric)) {
        EXPECT_NE(row.api.symbol, kCanary);
        if (row.api.symbol == "tally_always") received += row.histogram.count();
      }
    }
    EXPECT_GT(received, 0U);
    EXPECT_GE(received, (*counts_).over);
    EXPECT_LE(received, (*counts_).begun);
    EXPECT_LE((*counts_).begun - (*counts_).over, static_cast<std::uint64_t>(kills_));
  }

  void CheckLocalSums(const Agent& agent) {
    auto local = RowsOf(*agent.LocalRows());
    const auto busy = RowsOf(*agent.LocalRows(), stats::Metric::kWallTimeBusy);
    local.insert(local.end(), busy.begin(), busy.end());
    EXPECT_GE(CallsOf(local, "tally_always"), (*counts_).over + (*before_consent_).over);
    EXPECT_LE(CallsOf(local, "tally_always"), (*counts_).begun + (*before_consent_).begun);
  }

  // Only a program killed while it was creating its file has left one, without content.
  void CheckRunFiles(const Agent& agent) {
    const auto left = harvest::ListRunFiles(paths_);
    ASSERT_TRUE(left) << left.error().message;
    for (const std::filesystem::path& path : *left) {
      const auto bytes = runs::RunFileBytes::Open(path);
      ASSERT_TRUE(bytes) << bytes.error().message;
      const auto info = runs::ReadRunInfo(*bytes);
      EXPECT_TRUE(info && !info->ready) << path;
    }
    EXPECT_EQ(agent.GetStatus()->measuring.refused_files, 0U);
  }

  const std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  const SharedCounts before_consent_{directory_.path() / "before_consent"};
  const SharedCounts counts_{directory_.path() / "counts"};
  int kills_ = 0;
};

TEST_F(KillTest, EveryBatchArrivesOnceAndEveryCallCountsOnce) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  Consent(settings::Mode::kLocal);
  {
    auto agent = Agent::Open(paths_, SystemClock());
    const std::string problem = agent->GetStatus()->measuring.policy_problem;
    if (!problem.empty()) GTEST_SKIP() << problem;
  }
  MeasureBeforeConsent();
  KillEverybody();
  if (HasFailure()) return;
  SendAll();

  auto agent = Agent::Open(paths_, SystemClock());
  ASSERT_TRUE(agent) << agent.error().message;
  CheckBatches(*agent);
  CheckServersSums();
  CheckLocalSums(*agent);
  CheckRunFiles(*agent);
}

}  // namespace
}  // namespace fieldcost::volunteer
