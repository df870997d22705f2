#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// Runs programs with and without the library; they must not notice the difference.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StrEq;

class PreloadVictimTest : public PreloadTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(PreloadVictimTest, TheHostDoesNotNotice) {
  const ProcessResult plain = RunProcess({.arguments = {kVictim, GetParam()}});
  const ProcessResult measured = RunProcess(Measured({kVictim, GetParam()}, kAllOfVictim));
  EXPECT_EQ(measured.output, plain.output);
  EXPECT_EQ(measured.errors, plain.errors);
  EXPECT_EQ(measured.exit_status, plain.exit_status);
  EXPECT_EQ(measured.signal, plain.signal);
  ASSERT_THAT(RunFiles(), SizeIs(1));
  EXPECT_EQ(RunFiles()[0].header.lost_calls, 0U);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, PreloadVictimTest,
                         ::testing::Values("alloc", "calls", "returns", "vector", "exceptions",
                                           "uncaught", "longjmp", "threads", "thread-exits",
                                           "fibres", "signals", "below", "fork", "backtrace",
                                           "errno", "die"),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Abandoned calls that look like live ones must not make each further call query the kernel for
// stack ranges. Each is counted except the last one, which may still be running.
TEST_F(PreloadTest, TheKernelIsSeldomAskedForStacks) {
  const ProcessResult measured = RunProcess(Measured({kVictim, "left"}, kAllOfVictim));
  EXPECT_EQ(measured.output, "seldom\n");
  EXPECT_EQ(measured.exit_status, 0);
  ASSERT_THAT(RunFiles(), SizeIs(1));
  const RunFileContent run = RunFiles()[0];
  const CellTotals& left = run.Of("victim_throw", Metric::kWallTime);
  EXPECT_EQ(left.abandoned + left.nested + run.header.lost_calls, 2U * (41 + 20'000) - 1)
      << left.abandoned << " abandoned, " << left.nested << " nested";
}

// If greenlet is loaded, from the start or later, frames that seem gone may return: an abandoned
// call keeps its record permanently, and other calls are lost because of it.
TEST_F(PreloadTest, WhereStacksAreCopiedNoRecordIsUsedAgain) {
  ProcessOptions from_the_start = Measured({kVictim, "left"}, kAllOfVictim);
  from_the_start.environment[0].second = kLibrary + ":" + kVictims + "_greenlet.so";
  for (const ProcessOptions& options :
       {from_the_start, Measured({kVictim, "left-later"}, kAllOfVictim)}) {
    EXPECT_EQ(RunProcess(options).exit_status, 0);
  }
  ASSERT_THAT(RunFiles(), SizeIs(2));
  for (const RunFileContent& run : RunFiles()) {
    const CellTotals& left = run.Of("victim_throw", Metric::kWallTime);
    EXPECT_LE(left.abandoned, 64U);
    EXPECT_GE(left.abandoned + left.nested + run.header.lost_calls, 2U * (41 + 20'000) - 1);
  }
}

TEST_F(PreloadTest, CountsCallsAndBytesExactly) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "alloc"}, kAllOfVictim)).exit_status, 0);
  const auto files = RunFiles();
  ASSERT_THAT(files, SizeIs(1));
  const RunFileContent& run = files[0];
  EXPECT_EQ(run.header.flags, shm::kRunForced);
  EXPECT_EQ(run.Of("victim_allocate", Metric::kWallTime).count, 3000U);

  // 3, 7 and 22 bytes lie in buckets 1, 2 and 4, which are slots 2, 3 and 5.
  for (const Metric metric :
       {Metric::kAllocInclusive, Metric::kAllocExclusive, Metric::kAllocSize}) {
    const CellTotals& own = run.Of("victim_allocate", metric);
    EXPECT_EQ(own.count, 3000U);
    EXPECT_EQ(own.sum, 1000U * (3 + 7 + 22));
    EXPECT_EQ(own.sum_of_squares, 1000U * (9 + 49 + 484));
    EXPECT_THAT(own.slots, ElementsAre(Pair(2, 1000), Pair(3, 1000), Pair(5, 1000)));
  }
  // A callee's allocations are part of the inclusive sum, not of the exclusive one.
  EXPECT_EQ(run.Of("victim_allocate_below", Metric::kAllocInclusive).sum, 100000U);
  EXPECT_EQ(run.Of("victim_allocate_below", Metric::kAllocExclusive).sum, 0U);
  EXPECT_EQ(run.Of("victim_allocate_below", Metric::kAllocExclusive).count, 1000U);
}

TEST_F(PreloadTest, OneMeasurementAtATimeOnAThread) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "calls"}, kAllOfVictim)).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.Of("victim_recurse", Metric::kWallTime).count, 1U);
  EXPECT_EQ(run.Of("victim_recurse", Metric::kWallTime).nested, 1000U);
  EXPECT_EQ(run.Of("victim_recurse_too", Metric::kWallTime).nested, 1000U);
  EXPECT_EQ(run.Of("victim_tail", Metric::kWallTime).count, 1U);
  EXPECT_EQ(run.Of("victim_tail_end", Metric::kWallTime).count, 0U);
  EXPECT_EQ(run.Of("victim_tail_end", Metric::kWallTime).nested, 1U);
}

TEST_F(PreloadTest, EveryThreadCounts) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "threads"}, kAllOfVictim)).exit_status, 0);
  EXPECT_EQ(RunFiles().at(0).Of("victim_noop", Metric::kWallTime).count, 10000U * 10 + 8 * 100000);
}

TEST_F(PreloadTest, CallsLeftByLongjmpOrExceptionAreAbandonedNotCounted) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "longjmp"}, kAllOfVictim)).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.Of("victim_call_back", Metric::kWallTime).count, 0U);
  EXPECT_EQ(run.Of("victim_call_back", Metric::kWallTime).abandoned, 100000U);
  EXPECT_EQ(run.Of("victim_noop", Metric::kWallTime).count, 1000U);
}

TEST_F(PreloadTest, AForkedChildIsNotMeasured) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "fork"}, kAllOfVictim)).exit_status, 3);
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.Of("victim_noop", Metric::kWallTime).count, 200U);
  EXPECT_EQ(run.Of("victim_call_back", Metric::kWallTime).count, 1U);
  EXPECT_EQ(run.Of("victim_allocate", Metric::kWallTime).count, 0U);
}

TEST_F(PreloadTest, SigkillLosesNoCompletedCall) {
  ASSERT_EQ(RunProcess(Measured({kVictim, "die"}, kAllOfVictim)).signal, SIGKILL);
  EXPECT_EQ(RunFiles().at(0).Of("victim_noop", Metric::kWallTime).count, 1000U);

  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(state_dir_.path() / "runs");
    std::filesystem::create_directory(state_dir_.path() / "runs");
    BackgroundProcess forever(Measured({kVictim, "forever"}, kAllOfVictim));
    const std::string last_wanted = std::to_string(100 + 37 * round);
    std::string line;
    do {
      ASSERT_TRUE(forever.WaitForLine("", &line));
    } while (line != last_wanted);
    forever.Signal(SIGKILL);
    const std::string output = forever.Wait().output;
    const std::size_t end = output.rfind('\n');
    const std::size_t begin = output.rfind('\n', end - 1) + 1;
    const auto printed = std::stoull(output.substr(begin, end - begin));
    EXPECT_THAT(RunFiles().at(0).Of("victim_noop", Metric::kWallTime).count,
                AnyOf(Eq(printed), Eq(printed + 1)));
  }
}

TEST_F(PreloadTest, RandomPicksAreFromAllowedModulesAndRecordTheirDraw) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1", "libc.so.6"}});
  for (int i = 0; i < 20; ++i) ASSERT_EQ(RunProcess(Measured({kVictim, "calls"})).exit_status, 0);
  const auto files = RunFiles();
  ASSERT_THAT(files, SizeIs(20));
  std::set<std::string> symbols;
  for (const RunFileContent& run : files) {
    EXPECT_EQ(run.header.flags, 0U);
    ASSERT_FALSE(run.picks.empty()) << "something is called";
    const shm::Pick& pick = run.picks.back();
    EXPECT_EQ(pick.picks_wanted, 1U);
    EXPECT_GT(pick.weight, 0U);
    EXPECT_GE(pick.weight_left, pick.weight);
    EXPECT_GT(pick.called, 0U);
    EXPECT_GE(pick.watched, pick.called);
    EXPECT_THAT(pick.soname, AnyOf(StrEq("libvictim.so.1"), StrEq("libc.so.6")));
    EXPECT_GT(pick.build_id_bytes, 0U);
    symbols.insert(pick.symbol);
  }
  EXPECT_GT(symbols.size(), 1U);
}

TEST_F(PreloadTest, AnApiHasOneNameForAllImporters) {
  // libc imports its own realloc without a version, programs import it with one.
  ASSERT_EQ(RunProcess(Measured({kVictim, "errno"}, "libc.so.6!realloc")).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  ASSERT_THAT(run.picks, SizeIs(1));
  EXPECT_STREQ(run.picks[0].symbol_version, "GLIBC_2.2.5");
}

TEST_F(PreloadTest, TwoNamesOfOneFunctionAreTwoApis) {
  const std::string pick = "libvictim.so.1!victim_noop*";
  ASSERT_EQ(RunProcess(Measured({kVictim, "names"}, pick)).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  ASSERT_THAT(run.picks, SizeIs(2));
  EXPECT_EQ(run.Of("victim_noop", Metric::kWallTime).count, 10U);
  EXPECT_EQ(run.Of("victim_noop_too", Metric::kWallTime).count, 7U);
}

TEST_F(PreloadTest, ReportsApisBeyondTheLimitOfARun) {
  ASSERT_EQ(RunProcess(Measured({"sqlite3", ":memory:", "select 1"}, "*!*")).exit_status, 0);
  EXPECT_THAT(RunFiles().at(0).picks, SizeIs(shm::kMaxPicks));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPicksLeftOut), 1U);
  ASSERT_EQ(RunProcess(Measured({kVictim, "calls"}, kAllOfVictim)).exit_status, 0);
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPicksLeftOut), 1U);
}

TEST_F(PreloadTest, ALibraryWithoutASonameIsPickedByItsFilesName) {
  ProcessOptions options = Measured({kVictims + "canaryown"}, "libcanaryown.so!canaryown_w*");
  EXPECT_EQ(RunProcess(options).exit_status, 3);
  const auto runs = RunFiles();
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(runs[0].picks, SizeIs(1));
  EXPECT_STREQ(runs[0].picks[0].soname, "libcanaryown.so");
  EXPECT_EQ(runs[0].Of("canaryown_work", Metric::kWallTime).count, 10U);
}

TEST_F(PreloadTest, AProgramStartedByAMeasuredOneHasItsOwnRunFile) {
  const std::string script = kVictim + " errno; exec " + kVictim + " errno";
  ASSERT_EQ(RunProcess(Measured({"/bin/sh", "-c", script}, kAllOfVictim)).exit_status, 0);
  ASSERT_THAT(RunFiles(), SizeIs(2));
  for (const RunFileContent& run : RunFiles()) {
    EXPECT_EQ(run.Of("victim_noop", Metric::kWallTime).count, 1U);
  }
}

// For any invalid input to the library, the program runs unmeasured.
class PreloadInertTest : public PreloadTest {
 protected:
  void ExpectInert(const ProcessOptions& options) const {
    const ProcessResult plain = RunProcess({.arguments = {kVictim, "calls"}});
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.output, plain.output);
    EXPECT_EQ(result.errors, "");
    EXPECT_EQ(result.exit_status, 0);
    if (std::filesystem::is_directory(state_dir_.path() / "runs")) {
      EXPECT_THAT(RunFiles(), IsEmpty());
    }
  }
};

TEST_F(PreloadInertTest, WithoutAStateDirectory) {
  ProcessOptions options = Measured({kVictim, "calls"}, kAllOfVictim);
  options.environment[1].second = "relative/path";
  ExpectInert(options);
  options.environment[1].second = "/nonexistent";
  ExpectInert(options);
  options.environment.erase(options.environment.begin() + 1);
  options.unset = {"FIELDCOST_STATE_DIR"};
  ExpectInert(options);
}

TEST_F(PreloadInertTest, WhenCollectionIsSwitchedOff) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .collection_enabled = 0});
  ExpectInert(Measured({kVictim, "calls"}));
}

TEST_F(PreloadInertTest, IfTheCoinDecidesAgainstTheRun) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .selection_per_65536 = 0});
  ExpectInert(Measured({kVictim, "calls"}));
}

TEST_F(PreloadInertTest, WhenNoModuleIsAllowed) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libother.so.1"}});
  ExpectInert(Measured({kVictim, "calls"}));
}

// The name of a library's file does not determine its identity.
TEST_F(PreloadInertTest, WhenOnlyTheNameOfAFileIsAllowed) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libcanaryown.so"}});
  EXPECT_EQ(RunProcess(Measured({kVictims + "canaryown"})).exit_status, 3);
  if (std::filesystem::is_directory(state_dir_.path() / "runs")) {
    EXPECT_THAT(RunFiles(), IsEmpty());
  }
}

TEST_F(PreloadInertTest, WithAPolicyOfAnotherVersion) {
  for (const std::uint32_t version : {2U, 99U}) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .version = version});
    ExpectInert(Measured({kVictim, "calls"}, kAllOfVictim));
  }
}

TEST_F(PreloadInertTest, WithATruncatedOrForeignPolicy) {
  const auto policy = state_dir_.path() / "policy";
  for (const std::uintmax_t size : {0, 7, 87, 88, 151}) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}});
    std::filesystem::resize_file(policy, size);
    ExpectInert(Measured({kVictim, "calls"}, kAllOfVictim));
  }
  std::ofstream(policy) << std::string(152, 'x');
  ExpectInert(Measured({kVictim, "calls"}, kAllOfVictim));
  std::filesystem::remove(policy);
  std::filesystem::create_directory(policy);
  ExpectInert(Measured({kVictim, "calls"}, kAllOfVictim));
}

// The program runs with any policy file: 300 files, each with some bits flipped.
TEST_F(PreloadTest, ADamagedPolicyHarmsNoProgram) {
  const std::string policy = (state_dir_.path() / "policy").string();
  const std::vector<shm::WeightEntry> weights = {{1, 2, 0}, {~std::uint64_t{0}, 65536, 0}};
  const ProcessResult plain = RunProcess({.arguments = {kVictims + "tally", "all"}});
  for (unsigned seed = 1; seed <= 300; ++seed) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libc.so.6", "libtally.so.1"},
                                           .weights = weights,
                                           .max_leases = 6,
                                           .overhead_per_65536 = 655,
                                           .phase_seconds = 1,
                                           .max_phases = 4});
    std::mt19937 random(seed);
    std::fstream file(policy, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<unsigned>(std::filesystem::file_size(policy));
    for (unsigned turned = 0; turned <= seed % 4; ++turned) {
      auto at = static_cast<unsigned>(random() % (seed % 2 == 0 ? 128 : size));
      // Creates missing directories, but not next to ours.
      if (at >= 128 && at <= 128 + state_dir_.path().native().size()) at = 0;
      file.seekg(at);
      const int byte = file.get();
      file.seekp(at);
      file.put(static_cast<char>(byte ^ static_cast<int>(1U << random() % 8)));
    }
    file.close();
    const std::string pick = seed % 3 == 0 ? "libtally.so.1!*" : "";
    const ProcessResult result = RunProcess(Measured({kVictims + "tally", "all"}, pick));
    EXPECT_EQ(result.exit_status, plain.exit_status) << "seed " << seed;
    EXPECT_EQ(result.output + result.errors, plain.output + plain.errors) << "seed " << seed;
  }
}

TEST_F(PreloadInertTest, WhenTheRunDirectoryIsFull) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .max_run_files = 2});
  for (const char* name : {"a", "b"}) std::ofstream(state_dir_.path() / "runs" / name) << name;
  ExpectInert(Measured({kVictim, "calls"}));
}

TEST_F(PreloadInertTest, WhenFilesMayNotGrowThatLarge) {
  ExpectInert(Measured({"/bin/sh", "-c", "ulimit -f 8; exec " + kVictim + " calls"}, kAllOfVictim));
}

// With session activation, programs of another C library load our library too.
TEST_F(PreloadInertTest, WithAnotherCLibrary) {
  if (RunProcess({.arguments = {"musl-gcc", "--version"}}).exit_status != 0) {
    GTEST_SKIP() << "musl-gcc is not installed";
  }
  const TempDir scratch;
  const std::string program = (scratch.path() / "program").string();
  std::ofstream(program + ".c")
      << "#include <stdio.h>\nint main(void) { return puts(\"hi\") < 0; }";
  ASSERT_EQ(RunProcess({.arguments = {"musl-gcc", program + ".c", "-o", program}}).exit_status, 0);
  const ProcessResult result = RunProcess(Measured({program}, "*"));
  EXPECT_EQ(result.output, "hi\n");
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(RunFiles(), IsEmpty());
}

// Half a list would have a different meaning, and measuring nothing is not what was requested, so
// the run is counted as skipped.
TEST_F(PreloadInertTest, WhenTheListOfPicksIsTooLong) {
  std::string pick = "libvictim.so.1!victim_noop";
  while (pick.size() < shm::kMaxPickBytes) pick += ",libvictim.so.1!victim_noop";
  ExpectInert(Measured({kVictim, "calls"}, pick));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kPickTooLong), 1U);
}

TEST_F(PreloadInertTest, WhenThePickMatchesNothing) {
  ExpectInert(Measured({kVictim, "calls"}, "libvictim.so.1!nothing_of_that_name"));
}

// If the C library enables shadow stacks, a library without the note would disable them for the
// whole program.
TEST(PreloadLibraryTest, BearsBranchTrackingAndShadowStacks) {
  const std::string notes = RunProcess({.arguments = {"readelf", "-nW", kLibrary}}).output;
  EXPECT_NE(notes.find("Properties: x86 feature: IBT, SHSTK\n"), std::string::npos) << notes;
  // Each stub may be the target of an indirect jump.
  const std::string code =
      RunProcess({.arguments = {"objdump", "-d", "--no-show-raw-insn", kLibrary}}).output;
  const auto stubs = [&code](const std::string& name, std::size_t bytes) {
    const std::size_t begin = code.find("<" + name + ">:\n");
    const std::uint64_t address =
        std::stoull(code.substr(code.rfind('\n', begin) + 1), nullptr, 16);
    std::size_t landings = 0;
    for (std::size_t i = 0; i < shm::kMaxPicks; ++i) {
      std::ostringstream line;
      line << ' ' << std::hex << address + i * bytes << ":\tendbr64";
      landings += code.find(line.str(), begin) != std::string::npos;
    }
    return landings;
  };
  EXPECT_EQ(stubs("fieldcost_stubs", 16), shm::kMaxPicks);
  EXPECT_EQ(stubs("fieldcost_sampling_stubs", 64), shm::kMaxPicks);
}

// Newer libgcc assumes that the kernel wrote the shadow-stack entry of a frame with this mark.
TEST(PreloadLibraryTest, NoFrameIsMarkedAsASignals) {
  std::istringstream frames(
      RunProcess({.arguments = {"readelf", "--debug-dump=frames", kLibrary}}).output);
  int kinds = 0;
  for (std::string line; std::getline(frames, line);) {
    if (line.find("Augmentation:") == std::string::npos) continue;
    ++kinds;
    EXPECT_EQ(line.substr(line.find('"')), "\"zR\"");
  }
  EXPECT_GT(kinds, 0);
}

TEST(PreloadLibraryTest, NeedsOnlyLibcExportsNothingAndStaysSmall) {
  const std::string dynamic = RunProcess({.arguments = {"readelf", "-dW", kLibrary}}).output;
  std::size_t needed = 0;
  for (std::size_t at = 0; (at = dynamic.find("(NEEDED)", at)) != std::string::npos; ++at) ++needed;
  EXPECT_EQ(needed, 1U);
  EXPECT_NE(dynamic.find("[libc.so.6]"), std::string::npos);

  EXPECT_EQ(RunProcess({.arguments = {"nm", "-D", "--defined-only", kLibrary}}).output, "");

  // Uses nothing of libc that touches vector registers, and few symbols, since each program must
  // look them up.
  std::istringstream undefined(
      RunProcess({.arguments = {"nm", "-D", "--undefined-only", "--without-symbol-versions",
                                "--format=just-symbols", kLibrary}})
          .output);
  std::set<std::string> imports;
  for (std::string name; undefined >> name;) imports.insert(name);
  EXPECT_EQ(imports, (std::set<std::string>{"__errno_location", "_dl_find_object",
                                            "dl_iterate_phdr", "dlsym", "dlvsym", "getauxval"}));

  const TempDir scratch;
  const std::string stripped = (scratch.path() / "stripped.so").string();
  ASSERT_EQ(RunProcess({.arguments = {"strip", "-o", stripped, kLibrary}}).exit_status, 0);
  EXPECT_LT(std::filesystem::file_size(stripped), 128U * 1024);
}

// Handlers may call nothing that could use vector registers, take a lock or allocate.
TEST(PreloadLibraryTest, UsesNoVectorRegister) {
  const std::string code =
      RunProcess({.arguments = {"objdump", "-d", "--no-show-raw-insn", kLibrary}}).output;
  ASSERT_NE(code.find("fieldcost_thunk_enter"), std::string::npos);
  EXPECT_EQ(code.find("%xmm"), std::string::npos);
  EXPECT_EQ(code.find("%ymm"), std::string::npos);
  EXPECT_EQ(code.find("%st"), std::string::npos);
}

}  // namespace
}  // namespace fieldcost::testing
