#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/collection_fixture.h"

// Collection as in the field: random picks, phases, leases, load, and libraries loaded by dlopen.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(CollectionTest, RecordsTheFirstCallSeparately) {
  SetPolicy({});
  ASSERT_EQ(RunProcess(Tally({"all"}, "libtally.so.1!*")).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  for (const shm::Pick& pick : run.picks) {
    if (run.calls.at(pick.symbol) == 0) {
      EXPECT_EQ(pick.first_call_ns, 0U);
      continue;
    }
    ASSERT_GT(pick.first_call_ns, 0U) << pick.symbol;
    const CellTotals& all = run.Of(pick.symbol, Metric::kWallTime);
    EXPECT_LE(pick.first_call_ns - 1, all.sum);
    if (all.count == 1) {
      EXPECT_EQ(pick.first_call_ns - 1, all.sum);
    }
  }
}

TEST_F(CollectionTest, RecordsCyclesNextToTime) {
  SetPolicy({.cycles_per_65536 = 65536});
  ASSERT_EQ(RunProcess(Tally({"spin", "100"})).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  ASSERT_THAT(run.picks, SizeIs(1));
  EXPECT_EQ(run.picks[0].metrics, shm::kTimeMetrics | shm::kCycleMetrics);

  RemoveRunFiles();
  ProcessOptions options = Tally({"spin", "100"}, "libtally.so.1!tally_spin");
  options.environment.emplace_back("FIELDCOST_METRICS", "cycles,time");
  ASSERT_EQ(RunProcess(options).exit_status, 0);
  const RunFileContent forced = RunFiles().at(0);
  const CellTotals& time = forced.Of("tally_spin", Metric::kWallTime);
  const CellTotals& cycles = forced.Of("tally_spin", Metric::kCpuCycles);
  EXPECT_EQ(time.count, 100U);
  EXPECT_EQ(cycles.count, 100U);
  const double ticks_per_ns =
      std::ldexp(1.0, 32) / static_cast<double>(forced.header.tsc_to_ns_multiplier);
  EXPECT_NEAR(static_cast<double>(cycles.sum), static_cast<double>(time.sum) * ticks_per_ns,
              100 * ticks_per_ns + 1);
}

TEST_F(CollectionTest, IoIsMeteredAlone) {
  SetPolicy({.io_per_65536 = 65536});
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_EQ(RunFiles().at(0).picks.at(0).metrics, shm::kIoMetrics);
}

TEST_F(CollectionTest, WeightsDecideHowOftenAnApiIsPicked) {
  SetPolicy({.weights = {{shm::ApiHash("libtally.so.1", "tally_often", ""), 0, 0}}});
  std::map<std::string, int> picked;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SetPolicy({.weights = {{shm::ApiHash("libtally.so.1", "tally_often", ""), 0, 0},
                           {shm::ApiHash("libtally.so.1", "tally_once", ""), 6554, 0}},
               .draw_seed = seed});
    ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  }
  for (const RunFileContent& run : RunFiles()) {
    for (const shm::Pick& pick : run.picks) picked[pick.symbol] += pick.picks_wanted != 0 ? 1 : 0;
  }
  EXPECT_EQ(picked.count("tally_often"), 0U);
  EXPECT_GT(picked["tally_always"], 3 * picked["tally_once"]);
}

// The run file has the weight of each pick.
TEST_F(CollectionTest, NamesWithoutDocumentationHaveAQuarterOfTheWeight) {
  struct Row {
    const char* name;
    std::vector<std::string> documented;
    std::uint32_t policy_weight;
    std::map<std::string, std::uint32_t> weights;
  };
  const std::vector<Row> table = {
      {"nothing is known", {}, 1000, {{"tally_once", 1000}, {"tally_always", 1000}}},
      {"one is documented", {"tally_always"}, 1000, {{"tally_once", 250}, {"tally_always", 1000}}},
      {"another is", {"printf"}, 1000, {{"tally_once", 250}, {"tally_always", 250}}},
      {"none below 1", {"printf"}, 3, {{"tally_once", 3}, {"tally_always", 3}}},
      {"the least divided", {"printf"}, 4, {{"tally_once", 1}, {"tally_always", 1}}},
  };
  for (const Row& row : table) {
    SetPolicy({.documented = row.documented,
               .picks_per_run = 3,
               .default_weight = row.policy_weight,
               .draw_seed = 1});
    ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
    const auto runs = RunFiles();
    RemoveRunFiles();
    ASSERT_EQ(runs.size(), 1U) << row.name;
    std::map<std::string, std::uint32_t> weights;
    for (const shm::Pick& pick : runs[0].picks) weights[pick.symbol] = pick.weight;
    for (const auto& [symbol, weight] : row.weights) {
      EXPECT_EQ(weights[symbol], weight) << row.name << ": " << symbol;
    }
  }
}

TEST_F(CollectionTest, ReservedNamesHaveAnEighthOfTheWeightOfOthersUnlessDocumented) {
  struct Row {
    std::vector<std::string> documented;
    std::uint32_t weight;
  };
  const std::vector<Row> table = {{{}, 125}, {{"printf"}, 31}, {{"__errno_location"}, 1000}};
  for (const Row& row : table) {
    SetPolicy({.modules = {"libc.so.6"},
               .documented = row.documented,
               .picks_per_run = 32,
               .default_weight = 1000,
               .draw_seed = 1});
    ASSERT_EQ(RunProcess(Tally({"polls", "1"})).exit_status, 0);
    const auto runs = RunFiles();
    RemoveRunFiles();
    ASSERT_EQ(runs.size(), 1U);
    std::uint32_t weight = 0;
    for (const shm::Pick& pick : runs[0].picks) {
      if (std::string("__errno_location") == pick.symbol) weight = pick.weight;
    }
    EXPECT_EQ(weight, row.weight) << row.documented.size();
  }
}

TEST_F(CollectionTest, DocumentedNamesOfAnImpossibleSizeMakeAPolicyUnusable) {
  for (const std::uint32_t bytes : {std::uint32_t{48}, 2 * shm::kMaxDocumentedBytes}) {
    SetPolicy({.documented = {"printf"}, .documented_bytes = bytes});
    ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
    EXPECT_TRUE(RunFiles().empty()) << bytes;
  }
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPolicyUnusable), 2U);
}

struct Reweighted {
  const char* name;
  std::uint32_t picks_per_run;
  std::uint32_t most_weight;
  std::uint32_t selection_per_65536;
  double least_share;  // among the selected runs
  double most_share;
};

class ReweightedTest : public CollectionTest, public ::testing::WithParamInterface<Reweighted> {};

// For any weights, the weights in each run's own file reproduce the program's calls.
TEST_P(ReweightedTest, TotalsOfMeasuredRunsAreThoseOfAllRuns) {
  const std::map<std::string, double> called = {
      {"tally_once", 1}, {"tally_often", 10}, {"tally_always", 100}};
  constexpr int kRuns = 500;
  const std::uint32_t most = GetParam().most_weight;
  std::map<std::string, double> estimated;
  std::map<std::string, double> squares;
  int measured = 0;
  std::mt19937_64 random(20261122);
  for (int i = 0; i < kRuns; ++i) {
    // The coin uses the low bits, so programs that would lose need not start.
    std::uint64_t seed = random();
    while ((seed & 0xffff) >= GetParam().selection_per_65536) seed = random();
    SetPolicy({.weights = {{shm::ApiHash("libtally.so.1", "tally_once", ""), most, 0},
                           {shm::ApiHash("libtally.so.1", "tally_often", ""), most / 2, 0},
                           {shm::ApiHash("libtally.so.1", "tally_always", ""), most / 4, 0}},
               .selection_per_65536 = GetParam().selection_per_65536,
               .picks_per_run = GetParam().picks_per_run,
               .io_per_65536 = 6554,
               .default_weight = most / 2,
               .draw_seed = seed});
    ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
    const auto runs = RunFiles();
    RemoveRunFiles();
    if (runs.empty()) continue;
    ++measured;
    const RunFileContent& run = runs.at(0);
    if (run.picks.at(0).metrics == shm::kIoMetrics) continue;
    for (std::uint32_t k = 0; k < run.picks.size(); ++k) {
      const std::string symbol = run.picks[k].symbol;
      const double calls = static_cast<double>(run.calls.at(symbol)) * StandsFor(run, k) *
                           GetParam().selection_per_65536 / shm::kCertain / kRuns;
      estimated[symbol] += calls;
      squares[symbol] += calls * calls;
    }
  }
  EXPECT_GT(measured, kRuns * GetParam().least_share);
  EXPECT_LT(measured, kRuns * GetParam().most_share);
  for (const auto& [symbol, calls] : called) {
    const double error = std::sqrt(squares[symbol]);
    EXPECT_LT(error / calls, 0.6) << symbol;
    EXPECT_LT(std::abs(estimated[symbol] - calls), 3 * error)
        << symbol << ": " << estimated[symbol] / calls << " +- " << error / calls;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, ReweightedTest,
    ::testing::Values(Reweighted{"one_pick", 1, 65536, 65536, 0.95, 1.1},
                      Reweighted{"three_picks_of_few_runs", 3, 65536, 4096, 0.95, 1.1},
                      Reweighted{"one_of_half_the_weight", 1, 32768, 65536, 0.95, 1.1}),
    [](const auto& setting) { return setting.param.name; });

TEST_F(CollectionTest, ALongRunPicksAnewWithoutAThreadOrASignal) {
  SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
             .phase_seconds = 1,
             .max_phases = 8,
             .tsc_to_ns_multiplier = kFastClock});
  ASSERT_EQ(RunProcess(Tally({"polls", "300000"})).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  int with_place = 0;
  for (const shm::Pick& pick : run.picks) {
    EXPECT_EQ(pick.phase, shm::kPickEnded);
    EXPECT_GE(pick.end_unix_ns, pick.start_unix_ns);
    EXPECT_GT(run.calls.at(pick.symbol), 0U) << "only what is called is picked";
    // Only libraries loaded from the start have all of their calls in the run.
    const bool is_first = (pick.flags & shm::kPickLater) == 0;
    EXPECT_EQ(pick.start_unix_ns == run.header.start_unix_ns, is_first);
    EXPECT_EQ(pick.selection_per_65536, shm::kCertain);
    EXPECT_LE(pick.picks_wanted, 1U);
    if (pick.picks_wanted == 1) ++with_place;
    EXPECT_GE(pick.weight_left, pick.weight);
    EXPECT_EQ(pick.bias_ns, run.header.bias_ps / 1000);
  }
  EXPECT_GE(with_place, 7) << "one per phase that went on until something was called";
  EXPECT_LE(with_place, 8);
}

// A program that acts on command, so that tests do not depend on timing.
class ToldProgram {
 public:
  explicit ToldProgram(const ProcessOptions& options) : process_(options) {
    EXPECT_TRUE(process_.WaitForLine("ready"));
  }

  // Makes it act once and waits for completion; returns false if it has ended instead.
  bool GoOn(const std::string& done) {
    process_.Signal(SIGUSR1);
    return process_.WaitForLine(done);
  }
  ProcessResult End() {
    process_.Signal(SIGUSR2);
    return process_.Wait();
  }

 private:
  BackgroundProcess process_;
};

// A program that picks a thousand times per second is done long before this timeout.
constexpr int kMostTurns = 1000;

TEST_F(CollectionTest, SwitchingOffReachesAProgramThatRuns) {
  SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
             .phase_seconds = 1,
             .max_phases = 512,
             .tsc_to_ns_multiplier = kFastClock});
  ToldProgram polls(Tally({"polls-when-told", "2000"}));
  int turns = 0;
  while (PicksUntilNow().size() < 2 && ++turns < kMostTurns) ASSERT_TRUE(polls.GoOn("polled"));
  ASSERT_LT(turns, kMostTurns);
  SetPolicy({.collection_enabled = 0, .tsc_to_ns_multiplier = kFastClock});
  while (PicksUntilNow().back().phase != shm::kPickEnded && ++turns < kMostTurns) {
    ASSERT_TRUE(polls.GoOn("polled"));
  }
  ASSERT_LT(turns, kMostTurns);
  const std::size_t before = PicksUntilNow().size();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(polls.GoOn("polled"));
  EXPECT_EQ(PicksUntilNow().size(), before);
  EXPECT_EQ(polls.End().exit_status, 0);
}

// Picks change every millisecond while four threads call them, until they have changed often;
// results in vector and x87 registers, errno and all calls are unaffected.
TEST_F(CollectionTest, PicksMayChangeWhileThreadsCallThem) {
  for (const std::uint32_t sampling_log2 : {0U, 2U}) {
    for (const char* build : {"tally", "tally_now"}) {
      RemoveRunFiles();
      SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
                 .picks_per_run = 2,
                 .max_leases = 6,
                 .overhead_per_65536 = 65536,
                 .sampling_log2 = sampling_log2,
                 .phase_seconds = 1,
                 .max_phases = 256,
                 .tsc_to_ns_multiplier = kFastClock});
      ProcessOptions options = Tally({"storm", "4000"});
      options.arguments[0] = kVictims + build;
      ToldProgram storm(options);
      std::string said = "ready\n";
      int turns = 0;
      do {
        ASSERT_TRUE(storm.GoOn("over"));
        ASSERT_LT(++turns, kMostTurns);
        said += "over\n";
      } while (PicksUntilNow().size() <= 40);
      const ProcessResult result = storm.End();
      EXPECT_EQ(result.output, said);
      EXPECT_EQ(result.exit_status, 0);
    }
  }
}

class LeaseTest : public CollectionTest {
 protected:
  LeaseTest() { SetPolicy({.max_leases = 2}); }

  bool IsNextMeasured() const {
    RemoveRunFiles();
    EXPECT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
    return !RunFiles().empty();
  }
};

TEST_F(LeaseTest, LimitsConcurrentlyMeasuredPrograms) {
  BackgroundProcess first(Tally({"hold"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  EXPECT_TRUE(IsNextMeasured());
  BackgroundProcess second(Tally({"hold-without-descriptors"}));
  ASSERT_TRUE(second.WaitForLine("holding"));
  EXPECT_FALSE(IsNextMeasured());
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoLease), 1U);
  // A manual pick needs no lease.
  EXPECT_EQ(RunProcess(Tally({"all"}, "libtally.so.1!*")).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(1));

  second.Signal(SIGKILL);
  second.Wait();
  EXPECT_TRUE(IsNextMeasured()) << "a dead holder blocks";
}

TEST_F(LeaseTest, AHolderThatBecomesAnotherProgramHoldsNothing) {
  BackgroundProcess first(Tally({"hold"}));
  BackgroundProcess second(Tally({"become"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  ASSERT_TRUE(second.WaitForLine("holding"));
  EXPECT_TRUE(IsNextMeasured());
}

TEST_F(LeaseTest, AChildThatOutlivesItsParentHoldsNoLease) {
  BackgroundProcess first(Tally({"hold"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  BackgroundProcess second(Tally({"leave-child"}));
  ASSERT_TRUE(second.WaitForLine("holding"));
  EXPECT_TRUE(IsNextMeasured());
}

TEST_F(LeaseTest, APhaseThatIsOverGivesItsLeaseBack) {
  SetPolicy(
      {.max_leases = 1, .phase_seconds = 1, .max_phases = 2, .tsc_to_ns_multiplier = kFastClock});
  BackgroundProcess polls(Tally({"polls", "100000000"}));
  ASSERT_TRUE(polls.WaitForLine("100000"));
  EXPECT_TRUE(IsNextMeasured());
}

TEST_F(CollectionTest, StartsNoMeasurementUnderLoad) {
  SetPolicy({.max_cpu_pressure_percent = 20});
  const auto run_with = [this](const std::string& pressure) {
    RemoveRunFiles();
    const std::filesystem::path file = state_dir_.path() / "pressure";
    std::ofstream(file) << pressure;
    const std::string script =
        "mount --bind $1 /proc/pressure/cpu && LD_PRELOAD=$2 FIELDCOST_STATE_DIR=$3 exec $4 all";
    return RunProcess({.arguments = {"unshare", "-m", "/bin/sh", "-c", script, "sh", file.string(),
                                     kLibrary, state_dir_.path().string(), kVictims + "tally"}});
  };
  const ProcessResult quiet = run_with("some avg10=19.99 avg60=99.00 avg300=99.00 total=1\n");
  if (quiet.exit_status != 0) GTEST_SKIP() << "cannot mount over /proc: " << quiet.errors;
  EXPECT_THAT(RunFiles(), SizeIs(1));
  ASSERT_EQ(run_with("some avg10=20.01 avg60=0.00 avg300=0.00 total=1\n").exit_status, 0);
  EXPECT_THAT(RunFiles(), IsEmpty());
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kSystemLoaded), 1U);
}

TEST_F(CollectionTest, LibrariesLoadedByDlopenCanBePicked) {
  constexpr char kPicks[] = "libvictim_plugin_base.so!plugin_base,libvictim.so.1!*";
  const ProcessResult plain = RunProcess({.arguments = {kVictims + "tally", "plugin", "20"}});
  ASSERT_EQ(plain.exit_status, 0);
  const ProcessResult measured = RunProcess(Tally({"plugin", "20"}, kPicks));
  EXPECT_EQ(measured.output, plain.output);
  EXPECT_EQ(measured.errors, "");
  ASSERT_THAT(RunFiles(), SizeIs(1)) << "nothing of it was there at the start";
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.calls.at("plugin_base"), 20U * 20);
  EXPECT_EQ(run.calls.at("victim_call_back"), 20U * 20);
}

TEST_F(CollectionTest, LibrariesLoadedByDlopenMayReplaceTheRandomPick) {
  int of_plugin = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SetPolicy({.modules = {"libvictim_plugin_base.so", "libvictim.so.1", "libtally.so.1"},
               .max_phases = 4,
               .draw_seed = seed});
    ASSERT_EQ(RunProcess(Tally({"plugin", "1"})).exit_status, 0);
  }
  for (const RunFileContent& run : RunFiles()) {
    for (const shm::Pick& pick : run.picks) {
      if (std::string(pick.soname).starts_with("libvictim")) ++of_plugin;
      // A replaced pick is not part of the sum, but its replacement is.
      EXPECT_EQ(pick.picks_wanted, &pick == &run.picks.back() ? 1U : 0U);
    }
  }
  EXPECT_GT(of_plugin, 0);
}

TEST_F(CollectionTest, FindsALibraryThatDlopenLoadsAgainElsewhere) {
  const ProcessResult plain = RunProcess({.arguments = {kVictims + "tally", "plugin-late", "3"}});
  ASSERT_EQ(plain.exit_status, 0);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SetPolicy({.modules = {"libtally.so.1", "libvictim_plugin_base.so"}, .draw_seed = seed});
    const ProcessResult measured = RunProcess(Tally({"plugin-late", "3"}));
    EXPECT_EQ(measured.output, plain.output);
    EXPECT_EQ(measured.exit_status, 0);
  }
  int sighted = 0;
  for (const RunFileContent& run : RunFiles()) {
    if (run.picks.empty()) continue;
    ++sighted;
    EXPECT_EQ(run.calls.at("plugin_base"), 3U * 20) << "from its first call on";
    EXPECT_THAT(std::string(run.picks[0].module_path),
                ::testing::EndsWith("libvictim_plugin_base.so"));
  }
  EXPECT_GT(sighted, 0);
}

TEST_F(CollectionTest, AProgramThatEntersASandboxGivesItsLeaseBack) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1", "libc.so.6"}});
  ASSERT_EQ(RunProcess(Measured({kVictims + "hosts", "seccomp"})).exit_status,
            RunProcess({.arguments = {kVictims + "hosts", "seccomp"}}).exit_status);
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kSandboxed), 1U);
}

TEST_F(CollectionTest, RunsThatCannotTakePartAreCounted) {
  SetPolicy({.modules = {"libother.so.1"}});
  RunProcess(Tally({"all"}));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNothingToPick), 1U);
  SetPolicy({.max_phases = 0});
  RunProcess(Tally({"all"}));
  SetPolicy({.version = 99});
  RunProcess(Tally({"all"}));  // its policy does not state where to count
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPolicyUnusable), 1U);
  SetPolicy({});
  std::filesystem::remove_all(state_dir_.path() / "runs");
  std::ofstream(state_dir_.path() / "runs") << "no directory";
  RunProcess(Tally({"all"}));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoRunFile), 1U);
}

}  // namespace
}  // namespace fieldcost::testing
