#include <fmt/format.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/collection_fixture.h"

// Collecting as in the field: random picks, phases, leases, load, and what dlopen brings.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(CollectionTest, TheFirstCallIsRecordedApart) {
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

TEST_F(CollectionTest, CyclesAreRecordedBesideTime) {
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
    for (const shm::Pick& pick : run.picks) ++picked[pick.symbol];
  }
  EXPECT_EQ(picked.count("tally_often"), 0U);
  EXPECT_GT(picked["tally_always"], 3 * picked["tally_once"]);
}

struct Reweighted {
  const char* name;
  std::uint32_t picks_per_run;
  std::uint32_t most_weight;
  std::uint32_t selection_per_65536;
  double least_share;  // of the runs that were chosen and did not give up
  double most_share;
};

class ReweightedTest : public CollectionTest, public ::testing::WithParamInterface<Reweighted> {};

// How many runs a pick stands for, by the run's own file alone.
std::uint32_t StandsFor(const RunFileContent& run, std::uint32_t index) {
  const shm::Pick& pick = run.picks[index];
  return shm::RunsStoodFor(
      {.candidate_count = pick.candidate_count,
       .slots = pick.slots,
       .weight = pick.weight,
       .wanted = pick.picks_wanted,
       .order = pick.draw_order,
       .probe_draws = pick.probe_draws,
       .probe_weight = pick.probe_weight,
       .by_last_draw = (pick.flags & shm::kPickByLastDraw) != 0},
      {.run = run.header.selection_per_65536, .time = run.header.time_per_65536},
      shm::RoundingBits(run.header.random_draw, index));
}

// Whatever the weights, whatever gives up: what each run stands for, by its own file alone, gives
// the program's calls.
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
    // The coin takes the low bits: those who would lose it need not start.
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

INSTANTIATE_TEST_SUITE_P(Settings, ReweightedTest,
                         ::testing::Values(Reweighted{"one_pick", 1, 65536, 65536, 0.95, 1.1},
                                           Reweighted{"three_picks_of_few_runs", 3, 65536, 4096,
                                                      0.95, 1.1},
                                           Reweighted{"some_give_up", 1, 32768, 65536, 0.8, 0.99}),
                         [](const auto& setting) { return setting.param.name; });

TEST_F(CollectionTest, ALongRunPicksAnewWithoutAThreadOrASignal) {
  SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
             .phase_seconds = 1,
             .max_phases = 8,
             .tsc_to_ns_multiplier = kFastClock});
  ASSERT_EQ(RunProcess(Tally({"polls", "300000"})).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  ASSERT_THAT(run.picks, SizeIs(8));
  for (const shm::Pick& pick : run.picks) {
    EXPECT_EQ(pick.phase, shm::kPickEnded);
    EXPECT_GE(pick.end_unix_ns, pick.start_unix_ns);
    EXPECT_GT(pick.draws, 0U);
    // Only what was there from the start has all of its calls in the run.
    const bool is_first = &pick == &run.picks[0];
    EXPECT_EQ(pick.start_unix_ns == run.header.start_unix_ns, is_first);
    EXPECT_EQ((pick.flags & shm::kPickLater) != 0, !is_first) << "chosen by a coin of its own";
    EXPECT_EQ(pick.selection_per_65536, shm::kCertain);
    EXPECT_EQ(pick.picks_wanted, 1U);
    EXPECT_EQ(pick.probe_draws, shm::kProbeDraws);
    EXPECT_EQ(pick.bias_ns, run.header.bias_ps / 1000);
  }
}

// A program that does something when it is told to, so that nothing here counts on how long it
// takes.
class ToldProgram {
 public:
  explicit ToldProgram(const ProcessOptions& options) : process_(options) {
    EXPECT_TRUE(process_.WaitForLine("ready"));
  }

  // Lets it do it once and returns when it is done; false if it has ended instead.
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

// A program that picks anew a thousand times a second has done what is waited for long before.
constexpr int kMostTurns = 1000;

TEST_F(CollectionTest, SwitchingOffReachesAProgramThatRuns) {
  SetPolicy({.phase_seconds = 1, .max_phases = 512, .tsc_to_ns_multiplier = kFastClock});
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

// Picks change every millisecond under four threads that call them, until they have changed often;
// results in vector and x87 registers, errno and every call stay what they are.
TEST_F(CollectionTest, WhatIsMeasuredMayChangeWhileThreadsCallIt) {
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

TEST_F(LeaseTest, OnlySoManyProgramsAreMeasuredAtOnce) {
  BackgroundProcess first(Tally({"hold"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  EXPECT_TRUE(IsNextMeasured());
  BackgroundProcess second(Tally({"hold-without-descriptors"}));
  ASSERT_TRUE(second.WaitForLine("holding"));
  EXPECT_FALSE(IsNextMeasured());
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoLease), 1U);
  // A pick by hand needs no lease.
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

TEST_F(LeaseTest, AChildThatStaysBehindHoldsNothing) {
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

TEST_F(CollectionTest, NothingStartsUnderLoad) {
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

TEST_F(CollectionTest, WhatDlopenBringsTakesPart) {
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

TEST_F(CollectionTest, WhatDlopenBringsMayTakeTheRandomPicksPlace) {
  int of_plugin = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SetPolicy({.modules = {"libvictim_plugin_base.so", "libvictim.so.1", "libtally.so.1"},
               .max_phases = 4,
               .draw_seed = seed});
    ASSERT_EQ(RunProcess(Tally({"plugin", "1"})).exit_status, 0);
  }
  std::set<std::uint64_t> candidates;
  for (const RunFileContent& run : RunFiles()) {
    candidates.insert(run.picks.back().candidate_count);
    for (const shm::Pick& pick : run.picks) {
      if (std::string(pick.soname).starts_with("libvictim")) ++of_plugin;
      EXPECT_GT(pick.draws, 0U);
      EXPECT_GT(pick.slots, 0U);
      // What made room for another is no part of the sum, but the other is.
      if (&pick != &run.picks.back()) {
        EXPECT_EQ(pick.picks_wanted, 0U);
      }
    }
  }
  EXPECT_GT(of_plugin, 0);
  // Whether the pick has stayed or not, it stands for a draw among all, unless none was taken.
  EXPECT_LE(candidates.size(), 2U);
  EXPECT_GT(*candidates.rbegin(), 0U);
}

TEST_F(CollectionTest, CallsThroughDataSlotsAreMeasuredIfThePolicySaysSo) {
  for (const std::uint32_t data_slots : {0U, 1U}) {
    RemoveRunFiles();
    MakeStateDirectory(state_dir_.path(),
                       {.modules = {"libvictim.so.1"}, .data_slots = data_slots});
    const ProcessResult result =
        RunProcess(Measured({kVictims + "hosts_no_plt", "many-threads"}, "libvictim.so.1!*"));
    EXPECT_EQ(result.exit_status, 0);
    const auto runs = RunFiles();
    EXPECT_EQ(!runs.empty() && runs[0].calls.contains("victim_noop") &&
                  runs[0].calls.at("victim_noop") > 0,
              data_slots == 1);
  }
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
  RunProcess(Tally({"all"}));  // which does not say where to count
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPolicyUnusable), 1U);
  SetPolicy({});
  std::filesystem::remove_all(state_dir_.path() / "runs");
  std::ofstream(state_dir_.path() / "runs") << "no directory";
  RunProcess(Tally({"all"}));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoRunFile), 1U);
}

TEST_F(CollectionTest, ARunThatIsAskedForIsMeasuredWhateverTheCoinSays) {
  SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
             .selection_per_65536 = 0,
             .max_load_per_core_percent = 0});
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_TRUE(RunFiles().empty());
  ProcessOptions asked = Tally({"all"});
  asked.environment.emplace_back("FIELDCOST_ASKED", "1");
  ASSERT_EQ(RunProcess(asked).exit_status, 0);
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.flags, shm::kRunAsked);
  EXPECT_EQ(runs[0].header.time_per_65536, 0U) << "it stands for no others";
  EXPECT_GT(runs[0].picks.size(), 1U);
  EXPECT_LE(runs[0].picks.size(), 32U);
}

TEST_F(CollectionTest, ARunThatTheCoinChoseIsLikeAnyOtherThoughItIsAskedFor) {
  SetPolicy({});
  ProcessOptions asked = Tally({"all"});
  asked.environment.emplace_back("FIELDCOST_ASKED", "1");
  ASSERT_EQ(RunProcess(asked).exit_status, 0);
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.flags, 0U);
  EXPECT_NE(runs[0].header.time_per_65536, 0U);
  EXPECT_EQ(runs[0].picks.size(), 1U);
}

class AskedTest : public CollectionTest {
 protected:
  ProcessOptions Asked(std::uint64_t request_id = 1) const {
    ProcessOptions asked = Tally({"all"});
    asked.environment.emplace_back("FIELDCOST_ASKED", std::to_string(request_id));
    return asked;
  }

  // Runs it, and takes its run file away; nullopt if it left none.
  std::optional<RunFileContent> RunAlone(const ProcessOptions& options) const {
    EXPECT_EQ(RunProcess(options).exit_status, 0);
    const auto runs = RunFiles();
    RemoveRunFiles();
    EXPECT_LE(runs.size(), 1U);
    return runs.empty() ? std::nullopt : std::optional(runs[0]);
  }
};

bool IsOfTheField(const std::optional<RunFileContent>& run) {
  return run && run->header.flags == 0;
}

// Everything in it that says what it stands for; times differ from run to run.
std::string FieldedBits(const RunFileContent& run) {
  std::string bits = fmt::format("{} {} {}", run.header.selection_per_65536,
                                 run.header.time_per_65536, run.header.random_draw);
  for (std::uint32_t i = 0; i < run.picks.size(); ++i) {
    const shm::Pick& pick = run.picks[i];
    bits += fmt::format(
        "; {} calls {} of {} slots {} weight {} draws {} wanted {} order {} probe {} "
        "{} flags {} metrics {} stands for {}",
        pick.symbol, run.calls.at(pick.symbol), pick.candidate_count, pick.slots, pick.weight,
        pick.draws, pick.picks_wanted, pick.draw_order, pick.probe_draws, pick.probe_weight,
        pick.flags, pick.metrics, StandsFor(run, i));
  }
  return bits;
}

// Of the same random numbers a run by request gives the field what the same run of a session gives
// it, bit by bit: nothing, or one file. So the expectation of what is sent is the same, too,
// whoever asks for what.
TEST_F(AskedTest, AskingChangesNoBitOfWhatTheFieldGets) {
  std::mt19937_64 random(20261123);
  int of_the_field = 0;
  int of_the_request = 0;
  for (int i = 0; i < 150; ++i) {
    SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
               .weights = {{shm::ApiHash("libtally.so.1", "tally_once", ""), 9000, 0}},
               .selection_per_65536 = 16384,
               .picks_per_run = 1U + static_cast<std::uint32_t>(i % 3),
               .io_per_65536 = 6554,
               .default_weight = 3000,
               .draw_seed = random() | 1});
    const auto session = RunAlone(Tally({"all"}));
    const auto request = RunAlone(Asked());
    ASSERT_EQ(IsOfTheField(session), session.has_value());
    ASSERT_EQ(IsOfTheField(request), session.has_value());
    if (session) {
      ++of_the_field;
      ASSERT_EQ(FieldedBits(*request), FieldedBits(*session));
    } else if (request) {
      ++of_the_request;
      ASSERT_EQ(request->header.flags, shm::kRunAsked);
    }
  }
  EXPECT_GT(of_the_field, 20);
  EXPECT_GT(of_the_request, 80);
}

TEST_F(AskedTest, ARunThatHasNoPlaceInTheFieldIsMeasuredForWhoeverAsks) {
  SetPolicy({.max_leases = 1});
  BackgroundProcess first(Tally({"hold"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  RemoveRunFiles();
  EXPECT_FALSE(RunAlone(Tally({"all"})));
  const auto asked = RunAlone(Asked());
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->header.flags, shm::kRunAsked);
  EXPECT_GT(asked->picks.size(), 1U);
}

TEST_F(AskedTest, RunsThatAreOnlyAskedForTakeNoPlaceOfTheField) {
  SetPolicy({.selection_per_65536 = 0, .max_run_files = 2, .max_leases = 1});
  ProcessOptions options = Asked();
  options.arguments.back() = "hold";
  BackgroundProcess holds(options);
  ASSERT_TRUE(holds.WaitForLine("holding"));
  for (int i = 0; i < 4; ++i) ASSERT_EQ(RunProcess(Asked()).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(5)) << "beyond the limits of the field";
  SetPolicy({.max_run_files = 2, .max_leases = 1});
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(6)) << "which has its one lease and its two files";
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(7));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kTooManyRunFiles), 1U);
}

TEST_F(AskedTest, WhatIsAskedForIsWhatIsSaidAndNamesTheRequest) {
  SetPolicy({.selection_per_65536 = 0, .io_per_65536 = 65536});
  ProcessOptions options = Asked(1234567890123456789);
  const auto timed = RunAlone(options);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->header.request_id, 1234567890123456789U);
  EXPECT_EQ(timed->picks.at(0).metrics, shm::kTimeMetrics) << "who asks for nothing wants times";
  options.environment.emplace_back("FIELDCOST_METRICS", "time,alloc");
  EXPECT_EQ(RunAlone(options)->picks.at(0).metrics, shm::kTimeMetrics | shm::kAllocMetrics);
  for (const char* nobody : {"0", "", "x", "1x", "-1", "12345678901234567890"}) {
    ProcessOptions asked = Tally({"all"});
    asked.environment.emplace_back("FIELDCOST_ASKED", nobody);
    EXPECT_FALSE(RunAlone(asked)) << nobody;
  }
}

TEST_F(AskedTest, WhatDlopenBringsIsMeasuredToo) {
  SetPolicy({.modules = {"libvictim_plugin_base.so", "libvictim.so.1", "libtally.so.1"},
             .selection_per_65536 = 0});
  ProcessOptions options = Asked();
  options.arguments = {kVictims + "tally", "plugin", "1"};
  const auto run = RunAlone(options);
  ASSERT_TRUE(run);
  std::set<std::string> libraries;
  for (const shm::Pick& pick : run->picks) libraries.insert(pick.soname);
  EXPECT_TRUE(libraries.contains("libtally.so.1"));
  EXPECT_TRUE(libraries.contains("libvictim.so.1")) << "that came later";
}

TEST_F(AskedTest, RunsThatAreNotDrawnAreCounted) {
  SetPolicy({.selection_per_65536 = 0});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(RunAlone(Tally({"all"})));
  EXPECT_TRUE(RunAlone(Asked()));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNotDrawn), 3U);
}

}  // namespace
}  // namespace fieldcost::testing
