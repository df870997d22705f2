#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/agent/preload/collection_fixture.h"
#include "tests/agent/preload/unnoticed.h"

// Unexpected behaviour of other programs: libraries in their own namespaces, with names that other
// libraries have, without versions, with old hash tables, or loaded before the program begins.

namespace fieldcost::testing {
namespace {

inline const std::string kStrangers = kVictims + "strangers";

class StrangersTest : public UnnoticedTest {};

TEST_F(StrangersTest, LibrariesWithTheSameNamesEachCallTheirOwn) {
  for (const char* const scenario : {"namesakes-now", "namesakes-lazy"}) {
    SCOPED_TRACE(scenario);
    EXPECT_EQ(ExpectUnnoticed({kStrangers, scenario}, "libvictim_namesake_*!*,libc.so.6!*").output,
              "100 200\n100 200\n100 200\n");
  }
}

TEST_F(StrangersTest, DoesNotMeasureSeparateNamespaces) {
  EXPECT_EQ(ExpectUnnoticed({kStrangers, "namespace"}, "libc.so.6!str*").output, "100\n100\n100\n");
}

TEST_F(StrangersTest, ACallThatAsksForNoVersionGetsTheOldestAsTheLoaderGivesIt) {
  EXPECT_EQ(ExpectUnnoticed({kStrangers, "unversioned"}, "libvictim_versioned.so!*").output,
            "1 2\n1 2\n1 2\n");
}

TEST_F(StrangersTest, LibrariesLoadedByAConstructorMayBeUnloaded) {
  EXPECT_EQ(ExpectUnnoticed({kStrangers, "early"}, "*!*", {{"VICTIM_BRINGS_EARLY", "1"}}).output,
            "100\n100 200\n100 200\n100 200\n");
}

TEST_F(StrangersTest, ALibraryWithTheOldHashTableMayStandBeforeOthers) {
  const std::string other = kVictims + "libvictim_interposer_sysv.so";
  for (const char* const pick : {"libvictim.so.1!*", "*!puts", "*"}) {
    SCOPED_TRACE(pick);
    ProcessOptions options = Measured({kVictims + "lifetimes", "reload"}, pick);
    const ProcessResult plain =
        RunProcess({.arguments = options.arguments, .environment = {{"LD_PRELOAD", other}}});
    options.environment[0].second = kLibrary + ":" + other;
    ExpectSame(RunProcess(options), plain, pick);
  }
}

TEST_F(StrangersTest, MoreThreadsThanAGapIsLongLoseNoSampledCall) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .sampling_log2 = 14});
  ProcessOptions options = Measured({kStrangers, "threads", "70000", "2"}, "libvictim.so.1!*");
  ASSERT_EQ(RunProcess(options).exit_status, 0);
  const RunFileContent run = OnlyRun();
  EXPECT_EQ(run.calls.at("victim_noop"), 140000U);
  EXPECT_EQ(run.header.lost_calls, 0U);
}

TEST_F(StrangersTest, ASlotIsNotTakenInTheNameOfAChildOfVfork) {
  for (int i = 0; i < 5; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(state_dir_.path() / "runs")) {
      std::filesystem::remove(entry.path());
    }
    ASSERT_EQ(RunProcess(Measured({kStrangers, "vfork"}, "libvictim.so.1!*")).exit_status, 0);
    const RunFileContent run = OnlyRun();
    EXPECT_EQ(run.calls.at("victim_noop"), 2000001U);
    EXPECT_EQ(run.header.lost_calls, 1U);
  }
}

TEST_F(StrangersTest, ACallThatWasLeftIsNotChargedLaterAllocations) {
  const std::string pick = "libvictim.so.1!victim_call_back";
  ASSERT_EQ(RunProcess(Measured({kStrangers, "allocate-after-jump"}, pick)).exit_status, 0);
  EXPECT_EQ(OnlyRun().Of("victim_call_back", shm::Metric::kAllocSize).count, 0U);
}

// With a budget of a thousandth, tries draws until this function is picked. The time that a loaded
// machine takes to start and end a thread counts towards the budget, too: with a hundredth, that
// was once enough for most of the calls.
class StrangersBudgetTest : public CollectionTest {
 protected:
  RunFileContent RunWithin(const std::string& symbol, const std::vector<std::string>& arguments) {
    TestPolicy policy{.modules = {"libvictim.so.1"}, .default_weight = 1, .overhead_per_65536 = 65};
    policy.weights = {{shm::ApiHash("libvictim.so.1", symbol.c_str(), ""), shm::kFullWeight, 0}};
    for (policy.draw_seed = 1; policy.draw_seed < 20; ++policy.draw_seed) {
      SetPolicy(policy);
      EXPECT_EQ(RunProcess(Measured(arguments)).exit_status, 0);
      const auto runs = RunFiles();
      if (runs.size() == 1 && symbol == runs[0].picks.at(0).symbol) return runs[0];
      RemoveRunFiles();
    }
    ADD_FAILURE() << symbol << " is not drawn";
    return {};
  }
};

TEST_F(StrangersBudgetTest, CallsInsideOfMeasuredOnesAreKeptWithinIt) {
  const RunFileContent run = RunWithin("victim_call_back", {kStrangers, "inside", "1000000"});
  EXPECT_LT(run.Of("victim_call_back", shm::Metric::kWallTime).nested, 200000U);
}

// Each thread has fewer calls than a thread makes before it settles its account.
TEST_F(StrangersBudgetTest, ManyShortThreadsKeepItTogether) {
  const RunFileContent run = RunWithin("victim_noop", {kStrangers, "threads", "2000", "1000"});
  EXPECT_LT(run.Of("victim_noop", shm::Metric::kWallTime).count, 200000U);
}

class StrangersInTheFieldTest : public CollectionTest {};

TEST_F(StrangersInTheFieldTest, LibrariesMayGoWhileThreadsPickAnew) {
  SetPolicy({.modules = {"libvictim.so.1", "libvictim_namesake_1.so", "libc.so.6"},
             .picks_per_run = 4,
             .phase_seconds = 1,
             .max_phases = 128,
             .tsc_to_ns_multiplier = kFastClock});
  for (int i = 0; i < 10; ++i) {
    const ProcessResult result = RunProcess(Measured({kStrangers, "churn", "300"}));
    EXPECT_EQ(result.output, "over\n");
    EXPECT_EQ(result.signal, 0);
  }
}

}  // namespace
}  // namespace fieldcost::testing
