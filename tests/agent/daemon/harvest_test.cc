#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "agent/harvest/harvester.h"
#include "agent/harvest/module_version.h"
#include "agent/settings/public_modules.h"
#include "agent/spool/state_db.h"
#include "common/base/text.h"
#include "tests/agent/daemon/agent_fixture.h"
#include "tests/agent/harvest/build_id_of_file.h"

namespace fieldcost::agent {
namespace {

using ::testing::HasSubstr;
using testing::RunFileOptions;
using testing::RunFileWriter;
using testing::WrittenPick;

constexpr char kLibcPath[] = "/lib/x86_64-linux-gnu/libc.so.6";

// This machine's, as a program that has it loaded would name it.
WrittenPick LibcPick() {
  const auto id = HexDecode(testing::BuildIdOfFile(kLibcPath));
  EXPECT_TRUE(id && id->size() >= 8);
  return {.soname = "libc.so.6",
          .symbol = "qsort",
          .build_id = std::string(id->begin(), id->end()),
          .module_path = kLibcPath};
}

class HarvestTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }
};

TEST_F(HarvestTest, FinishedRunIsCountedAndRemoved) {
  Agent agent = OpenAgent(Mode::kLocal);
  WriteRun("a", {3, 7, 22});
  const auto report = agent.Harvest();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files_read, 1U);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 3U);
  EXPECT_FALSE(std::filesystem::exists(RunPath("a")));
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.api.symbol, "victim_call");
  EXPECT_EQ(rows[0].key.week, WeekOf(kStart));
  EXPECT_EQ(rows[0].histogram, HistogramOf({3, 7, 22}));
}

TEST_F(HarvestTest, LivingRunIsCountedByExactDifferences) {
  Agent agent = OpenAgent(Mode::kLocal);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> values;
  {
    RunFileWriter file(RunPath("a"), Living());
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t i = random() % 50; i > 0; --i) {
        values.push_back(random() >> (random() % 60 + 4));
        file.Add(values.back(), static_cast<std::uint32_t>(random() % shm::kThreadSlots));
      }
      const auto report = agent.Harvest();
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->files_left, 1U);
      EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf(values)) << "round " << round;
    }
    file.Add(5);
    values.push_back(5);
    file.End();
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 1U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf(values));
  EXPECT_EQ(agent.Harvest()->files_read, 0U);
}

TEST_F(HarvestTest, CallsOfTwoWeeksGoToTwoRows) {
  Agent agent = OpenAgent(Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.Add(4);
  ASSERT_TRUE(agent.Harvest());
  clock_.Advance(std::chrono::weeks(1));
  file.Add(5);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].histogram, HistogramOf({4}));
  EXPECT_EQ(rows[1].histogram, HistogramOf({5}));
  EXPECT_EQ(rows[1].key.week, rows[0].key.week + 1);
}

TEST_F(HarvestTest, FileCountedBeforeACrashIsNotCountedAgain) {
  Agent agent = OpenAgent(Mode::kLocal);
  WriteRun("a", {3, 7, 22});
  {
    // The state at a kill between commit and unlink: counted as living, then ended.
    RunFileWriter file(RunPath("b"), Living());
    file.Add(1);
    ASSERT_TRUE(agent.Harvest());
    EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1}));
    file.End();
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 0U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1}));
  // A name that comes back with another file is another run.
  WriteRun("b", {3, 7, 22});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1, 3, 7, 22}));
}

TEST_F(HarvestTest, ConcurrentHarvestsCountEachCallOnce) {
  OpenAgent(Mode::kLocal);
  RunFileWriter living(RunPath("living"), Living());
  std::uint64_t calls = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) {
      WriteRun("r" + std::to_string(i), {1, 2, 3});
      calls += 3;
    }
    living.Add(9);
    ++calls;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([this] {
        Agent agent = OpenAgent();
        const auto report = agent.Harvest();
        EXPECT_TRUE(report) << report.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Sum(*OpenAgent().LocalRows()).count(), calls);
  }
}

TEST_F(HarvestTest, LockAloneKeepsARunAlive) {
  Agent agent = OpenAgent(Mode::kLocal);
  WriteRun("a", {3});
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(RunPath("a").c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    char byte = ::fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    ::_exit(::read(done[0], &byte, 1) == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_left, 1U);
  EXPECT_EQ(report->calls, 1U);
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(agent.Harvest()->files_finished, 1U);
}

TEST_F(HarvestTest, RefusedFilesAreSetAsideAndTheOthersCounted) {
  Agent agent = OpenAgent(Mode::kLocal);
  WriteRun("a", {1});
  WriteRun("b", {2});
  WriteRun("c", {3});
  std::filesystem::resize_file(RunPath("b"), 5000);
  std::filesystem::create_symlink("/etc/passwd", RunPath("d"));
  const auto report = agent.Harvest();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files_refused, 2U);
  EXPECT_THAT(report->refused_reason, HasSubstr("5000 bytes"));
  EXPECT_TRUE(std::filesystem::exists(paths_.run_dir() / "refused" / "b.run"));
  EXPECT_TRUE(std::filesystem::is_symlink(paths_.run_dir() / "refused" / "d.run"));
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({1, 3}));
  EXPECT_EQ(agent.GetStatus()->measuring.refused_files, 2U);
  // Never more than a few are kept.
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(WriteFileAtomically(RunPath("x" + std::to_string(i)), "garbage", 0600));
  }
  EXPECT_EQ(agent.Harvest()->files_refused, 40U);
  std::size_t kept = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(paths_.run_dir() / "refused")) {
    ++kept;
  }
  EXPECT_EQ(kept, 16U);
}

// Versions before policy version 3 had programs leave everything in the state directory.
TEST_F(HarvestTest, WhatWasLeftInTheStateDirectoryIsCountedOnce) {
  Agent agent = OpenAgent(Mode::kLocal);
  const auto old = paths_.state_dir / "runs";
  ASSERT_TRUE(MakeDirectories(old, 0700));
  for (const char* name : {"skips", "leases"}) {
    ASSERT_TRUE(WriteFileAtomically(paths_.state_dir / name, "old", 0600));
  }
  WriteRun("new", {1});
  RunFileWriter(old / "ended.run", Ended()).Add(2);
  RunFileWriter living(old / "living.run", Living());
  living.Add(3);
  EXPECT_EQ(agent.GetStatus()->measuring.run_files, 3U);
  EXPECT_EQ(agent.Harvest()->files_finished, 2U);
  EXPECT_EQ(agent.Harvest()->calls, 0U);
  living.Add(4);
  living.End();
  EXPECT_EQ(agent.Harvest()->calls, 1U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({1, 2, 3, 4}));
  for (const char* name : {"runs", "skips", "leases"}) {
    EXPECT_FALSE(std::filesystem::exists(paths_.state_dir / name)) << name;
  }
}

// A container with the user's home may have another /dev/shm; a session's memory ends with it.
TEST_F(HarvestTest, WhoSeesOtherMemoryForgetsNothingThatWasCounted) {
  Agent agent = OpenAgent(Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.Add(1);
  EXPECT_EQ(agent.Harvest()->calls, 1U);
  EXPECT_EQ(agent.Harvest()->calls, 0U);
  {
    const testing::TempDir elsewhere(testing::kMemory);
    AgentPaths other = paths_;
    other.memory_roots = {elsewhere.path()};
    auto stranger = Agent::Open(other, clock_);
    ASSERT_TRUE(stranger);
    ASSERT_TRUE(stranger->WritePolicy(false));
    for (std::uint64_t value : {10U, 20U}) {
      RunFileWriter(other.run_dir() / "b.run", Ended()).Add(value);
      EXPECT_EQ(stranger->Harvest()->calls, 1U);
    }
  }
  file.Add(2);
  EXPECT_EQ(agent.Harvest()->calls, 1U) << "only the new one";
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({1, 2, 10, 20}));
}

TEST_F(HarvestTest, LostCallsAreReportedOnce) {
  Agent agent = OpenAgent(Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.header().lost_calls = 5;
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.Harvest());
  file.header().lost_calls = 7;
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.GetStatus()->measuring.lost_calls, 7U);
}

TEST_F(HarvestTest, OneRowAMetricHoldsAllThatIsNotPublicAndNamesNothing) {
  for (const Mode mode : {Mode::kLocal, Mode::kOn}) {
    Agent agent = OpenAgent(mode);
    RunFileOptions options = Ended();
    options.picks = {WrittenPick{.soname = "libsecret.so.1",
                                 .symbol = "secret_call",
                                 .symbol_version = "SECRET_1",
                                 .module_path = "/opt/secret/libsecret.so.1"},
                     WrittenPick{.soname = "libother-secret.so.1", .symbol = "secret_too"}};
    {
      RunFileWriter file(RunPath(std::string(Name(mode))), options);
      file.Add(7, 0, 0);
      file.Add(8, 0, 1);
    }
    ASSERT_TRUE(agent.Harvest());
    EXPECT_GT(agent.GetStatus()->measuring.private_rows_kept, 0U) << Name(mode);
  }
  Agent agent = OpenAgent();
  const auto rows = agent.LocalRows();
  ASSERT_TRUE(rows);
  for (const stats::StatRow& row : *rows) {
    EXPECT_EQ(row.key.api, (stats::ApiKey{.soname = "(private)",
                                          .package_version = {},
                                          .build_id = {},
                                          .symbol = "(private)",
                                          .symbol_version = {}}));
    EXPECT_TRUE(wire::ValidateApiKey(row.key.api));
  }
  EXPECT_EQ(Sum(*rows), HistogramOf({7, 8, 7, 8}));
  EXPECT_FALSE(agent.Preview()->has_value());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(paths_.state_dir)) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = ReadFile(entry.path(), 64 << 20);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->find("secret_call"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes->find("SECRET_1"), std::string::npos) << entry.path();
  }
}

TEST_F(HarvestTest, PickByHandKeepsItsNameAndIsNeverSent) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.forced = true;
  options.picks = {WrittenPick{.soname = "libsecret.so.1", .symbol = "secret_call"}};
  WriteRun("a", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(stats::DisplayName(rows[0].key.api), "libsecret.so.1!secret_call");
  EXPECT_TRUE(agent.LocalOnlyApis()->contains(rows[0].key.api));
  // Nor is what anybody has.
  options.picks = {LibcPick()};
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  EXPECT_FALSE(agent.Preview()->has_value());
  EXPECT_EQ(agent.GetStatus()->measuring.private_rows_kept, 2U);  // times, and calls of the run
}

TEST_F(HarvestTest, OnlyWhatHoldsNothingThatMayBeSentIsLocalOnly) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.forced = true;
  options.picks = {LibcPick()};
  WriteRun("a", {7}, options);
  options.picks = {WrittenPick{.soname = "mine.so", .symbol = "own_call"}};
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto is_local_only = [&agent](const std::string& soname) {
    const auto apis = *agent.LocalOnlyApis();
    return std::any_of(apis.begin(), apis.end(),
                       [&](const stats::ApiKey& api) { return api.soname == soname; });
  };
  EXPECT_FALSE(is_local_only("libc.so.6"));
  EXPECT_TRUE(is_local_only("mine.so"));
  // From now on it is one that the user lets be sent.
  ASSERT_TRUE(
      WriteFileAtomically(paths_.config_file, "[modules]\nextra_modules = [\"mine.so\"]\n", 0600));
  Agent permitted = OpenAgent();
  options.forced = false;
  WriteRun("c", {7}, options);
  ASSERT_TRUE(permitted.Harvest());
  EXPECT_FALSE(is_local_only("mine.so"));
}

TEST_F(HarvestTest, WhatTheCoinDidNotChooseStaysHereThoughItWasAskedFor) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {LibcPick(), WrittenPick{.soname = "libsecret.so.1", .symbol = "secret_call"}};
  options.asked = true;
  WriteRun("a", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].histogram, HistogramOf({7}));
  EXPECT_FALSE(agent.Preview()->has_value());
  // The same run, had the coin chosen it.
  options.asked = false;
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  EXPECT_TRUE(agent.Preview()->has_value());
}

// Sums of wall times only.
stats::CostHistogram TimesOf(const std::vector<stats::StatRow>& rows) {
  stats::CostHistogram sum;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric == stats::Metric::kWallTime) sum.Merge(row.histogram);
  }
  return sum;
}

TEST_F(HarvestTest, WhatARequestMeasuredIsKnownByItsNumber) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.request_id = 7;
  options.asked = true;
  WriteRun("a", {3}, options);
  WriteRun("b", {5}, options);  // of a child process
  options.request_id = 8;
  options.asked = false;
  WriteRun("c", {9}, options);
  WriteRun("d", {11});
  ASSERT_TRUE(agent.Harvest());
  const auto found = agent.RowsOfRequest(7);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(TimesOf(found->rows), HistogramOf({3, 5}));
  EXPECT_FALSE(found->any_fielded);
  EXPECT_EQ(TimesOf(agent.RowsOfRequest(8)->rows), HistogramOf({9}));
  EXPECT_TRUE(agent.RowsOfRequest(8)->any_fielded);
  EXPECT_TRUE(agent.RowsOfRequest(0)->rows.empty());
  EXPECT_TRUE(agent.RowsOfRequest(9)->rows.empty());
  EXPECT_EQ(TimesOf(*agent.LocalRows()), HistogramOf({3, 5, 9, 11}));
  const RunCounts runs = agent.GetStatus()->measuring.runs;
  EXPECT_EQ(runs.drawn, 2U);
  EXPECT_EQ(runs.asked, 2U);
}

TEST_F(HarvestTest, WhatIsAskedForSinceATimeHasNothingFromBefore) {
  Agent agent = OpenAgent(Mode::kLocal);
  WriteRun("a", {3});
  RunFileWriter living(RunPath("b"), Living());
  living.Add(5);
  clock_.Advance(std::chrono::seconds(10));
  ASSERT_TRUE(agent.Harvest());
  living.Add(7);  // since that look
  WriteRun("c", {9}, Ended());
  clock_.Advance(std::chrono::seconds(10));
  ASSERT_TRUE(agent.Harvest());
  const auto since = [&](int seconds) {
    return TimesOf(*agent.LocalRowsOf({.from = kStart + std::chrono::seconds(seconds)}));
  };
  EXPECT_EQ(since(0), HistogramOf({3, 5, 7, 9}));
  EXPECT_EQ(since(1), HistogramOf({7, 9}));
  EXPECT_EQ(since(10), HistogramOf({7, 9}));
  EXPECT_EQ(since(11).count(), 0U);
  EXPECT_EQ(TimesOf(*agent.LocalRowsOf({.before = kStart + std::chrono::seconds(10)})),
            HistogramOf({3, 5}));
}

TEST_F(HarvestTest, ARunCountsOnceHoweverOftenItIsLookedAt) {
  Agent agent = OpenAgent(Mode::kLocal);
  {
    RunFileWriter file(RunPath("a"), Living());
    ASSERT_TRUE(agent.Harvest());  // nothing is called yet
    file.Add(7);
    ASSERT_TRUE(agent.Harvest());
    ASSERT_TRUE(agent.Harvest());
    file.End();
    ASSERT_TRUE(agent.Harvest());
  }
  WriteRun("b", {});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.GetStatus()->measuring.runs.drawn, 2U);
}

TEST_F(HarvestTest, RunsThatWereNotDrawnAreAddedUpAcrossBoots) {
  Agent agent = OpenAgent(Mode::kLocal);
  const auto set_count = [this](std::uint64_t count) {
    auto bytes = ReadFile(paths_.skip_file(), sizeof(shm::SkipFile));
    ASSERT_TRUE(bytes);
    shm::SkipFile skips;
    std::memcpy(&skips, bytes->data(), sizeof skips);
    skips.counts[static_cast<std::uint32_t>(shm::Skip::kNotDrawn)] = count;
    std::memcpy(bytes->data(), &skips, sizeof skips);
    ASSERT_TRUE(WriteFileAtomically(paths_.skip_file(), *bytes, 0600));
  };
  for (const std::uint64_t count : {15, 15, 40, 3}) {  // the last after a boot
    set_count(count);
    ASSERT_TRUE(agent.Harvest());
  }
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->measuring.runs.not_drawn, 43U);
  EXPECT_TRUE(status->measuring.skips.empty()) << "it is no obstacle";
}

TEST_F(HarvestTest, ForgettingWhatIsLocalLeavesWhatIsToBeSent) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileWriter living(RunPath("a"), Living());
  living.Add(5);
  WriteRun("b", {3});
  ASSERT_TRUE(agent.ForgetLocal());  // what lay there, too
  EXPECT_TRUE(agent.LocalRows()->empty());
  EXPECT_TRUE(agent.LocalRowsOf({})->empty());
  EXPECT_TRUE(agent.Preview()->has_value());
  living.Add(7);
  living.End();
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(TimesOf(*agent.LocalRows()), HistogramOf({7})) << "what came after it, and once";
}

TEST_F(HarvestTest, APauseTellsProgramsAndKeepsWhatIsUnsent) {
  Agent agent = OpenAgent(Mode::kOn);
  WriteRun("a", {3});
  EXPECT_TRUE(PolicySaysMeasure());
  ASSERT_TRUE(agent.Pause(kUntilResumed));
  EXPECT_FALSE(PolicySaysMeasure());
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(TimesOf(*agent.LocalRows()), HistogramOf({3})) << "it began before";
  EXPECT_TRUE(agent.Preview()->has_value());
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->stopped_by);
  EXPECT_EQ(report->stopped_by->code, ErrorCode::kPermissionDenied);
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->paused_until, kUntilResumed);
  EXPECT_EQ(status->consent.mode, Mode::kOn);
  EXPECT_EQ(status->measuring.policy_problem, "");
  EXPECT_TRUE(*agent.Resume());
  EXPECT_TRUE(PolicySaysMeasure());
  EXPECT_FALSE(*agent.Resume());
}

TEST_F(HarvestTest, UpgradeUnderARunningProgramIsNotMistakenForTheNewVersion) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {LibcPick()};
  // What the program had loaded was another build than the package's file is now.
  options.picks[0].build_id[0] = static_cast<char>(options.picks[0].build_id[0] ^ 1);
  WriteRun("a", {7}, options);
  options.picks = {LibcPick()};
  options.picks[0].build_id.clear();
  WriteRun("b", {8}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.api.soname, "(private)") << "it cannot be shown that it was the package's";
  EXPECT_EQ(rows[0].histogram, HistogramOf({7, 8}));
  EXPECT_FALSE(agent.Preview()->has_value());
}

TEST_F(HarvestTest, OnlyPackagedPublicOrNamedModulesBecomePending) {
  Agent agent = OpenAgent(Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {
      WrittenPick{.soname = "libvictim.so.1"},
      WrittenPick{.soname = "libcompany-secret.so.1", .symbol = "secret"},
      // Public by name, but not the package's file.
      WrittenPick{.soname = "libz.so.1", .symbol = "inflate", .module_path = "/nowhere/libz.so.1"},
      LibcPick(),
  };
  {
    RunFileWriter file(RunPath("a"), options);
    for (std::uint32_t pick = 0; pick < 4; ++pick) file.Add(9 + pick, 0, pick);
  }
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(stats::DisplayName(rows[0].key.api), "(private)!(private)");
  EXPECT_EQ(rows[0].histogram, HistogramOf({10, 11})) << "of two libraries";
  EXPECT_EQ(agent.GetStatus()->measuring.private_rows_kept, 2U) << "of two metrics";
  const auto preview = agent.Preview();
  ASSERT_TRUE(preview) << preview.error().message;
  ASSERT_TRUE(preview->has_value());
  std::vector<std::string> sonames;
  for (const wire::BatchRow& row : (*preview)->content.rows) {
    if (row.metric == stats::Metric::kWallTime) sonames.push_back(row.api.soname);
  }
  EXPECT_THAT(sonames, ::testing::ElementsAre("libc.so.6", "libvictim.so.1"));
  EXPECT_THAT((*preview)->content.rows[0].api.package_version, ::testing::StartsWith("2."));
  EXPECT_EQ((*preview)->content.rows.back().api.package_version, "");
  EXPECT_EQ((*preview)->content.rows.back().api.build_id, "01020304");
}

TEST_F(HarvestTest, PolicysListReplacesTheBuiltInOneAndItsPackageMustOwnTheFile) {
  struct Row {
    std::vector<wire::PolicyModule> modules;
    bool is_public;
  };
  const std::vector<Row> table = {
      {{}, true},
      {{{.soname = "libc.so.6", .package = ""}}, true},
      {{{.soname = "libc.so.6", .package = "libc6"}}, true},
      {{{.soname = "libc.so.6", .package = "libc6-of-somebody"}}, false},
      {{{.soname = "libz.so.1", .package = ""}}, false},
  };
  OpenAgent(Mode::kLocal);
  int run = 0;
  for (const Row& row : table) {
    RunFileOptions options = Ended();
    options.picks = {LibcPick()};
    WriteRun("r" + std::to_string(run++), {7}, options);
    auto database = StateDb::Open(directory_.path() / ("db" + std::to_string(run)));
    ASSERT_TRUE(database) << database.error().message;
    AgentConfig config;
    config.policy_modules = row.modules;
    ASSERT_TRUE(Harvester(paths_, config, clock_, *database).HarvestAll());
    const auto rows = database->LocalRows();
    ASSERT_TRUE(rows && !rows->empty());
    EXPECT_EQ((*rows)[0].first.api.soname == "libc.so.6", row.is_public) << run;
  }
}

TEST(PackagePathsTest, LooksUnderBothSidesOfMergedUsr) {
  EXPECT_THAT(PackagePaths("/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/lib/nowhere/libx.so.1", "/usr/lib/nowhere/libx.so.1"));
  EXPECT_THAT(PackagePaths("/usr/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/usr/lib/nowhere/libx.so.1", "/lib/nowhere/libx.so.1"));
  for (const char* untrusted : {"", "libx.so.1", "--help", "/lib/*", "/lib/a b", "/lib/[x]"}) {
    EXPECT_TRUE(PackagePaths(untrusted).empty()) << untrusted;
  }
}

class ModuleVersionTest : public ::testing::Test {
 protected:
  // "PACKAGE VERSION" of a file that a run had loaded with that build-id.
  std::string Find(const std::string& soname, const std::string& path, const std::string& id) {
    const auto owner = ModuleVersions(database_).Find({.soname = soname,
                                                       .package_version = {},
                                                       .build_id = id,
                                                       .symbol = "f",
                                                       .symbol_version = {}},
                                                      path);
    EXPECT_TRUE(owner) << owner.error().message;
    return owner->package + ' ' + owner->version;
  }

  testing::TempDir directory_;
  StateDb database_ = std::move(*StateDb::Open(directory_.path() / "agent.db"));
};

TEST_F(ModuleVersionTest, FileOfAPackageHasItsVersionIfTheBuildIsTheRuns) {
  const std::string id = testing::BuildIdOfFile(kLibcPath);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(Find("libc.so.6", kLibcPath, id), ::testing::StartsWith("libc6 2."));
    EXPECT_EQ(Find("libc.so.6", kLibcPath, id.substr(2)), " ");
    EXPECT_EQ(Find("libc.so.6", kLibcPath, ""), " ");
    EXPECT_EQ(Find("libz.so.1", kLibcPath, id), " ") << "another library's file";
    EXPECT_EQ(Find("libc.so.6", "/nowhere/libc.so.6", id), " ");
    EXPECT_EQ(Find("libc.so.6", "/lib", id), " ");
  }
}

TEST_F(ModuleVersionTest, CopyOfAPackagesFileIsOfNoPackage) {
  const auto copy = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, copy);
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), " ");
}

TEST_F(ModuleVersionTest, FileThatWasReplacedIsLookedAtAnew) {
  const auto file = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, file);
  const std::string old_id = testing::BuildIdOfFile(file);
  EXPECT_EQ(Find("libc.so.6", file, old_id), " ");
  std::filesystem::copy_file("/lib/x86_64-linux-gnu/libm.so.6", file,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(testing::BuildIdOfFile(file), old_id);
  EXPECT_EQ(Find("libc.so.6", file, old_id), " ");
}

}  // namespace
}  // namespace fieldcost::agent
