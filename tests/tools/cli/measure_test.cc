#include <fmt/format.h>

#include <thread>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/wire/lab_table.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

// `fieldcost measure` from the command line: how it ends, what it prints, and what it leaves
// behind.

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";

class MeasureCommandTest : public CliTest {
 protected:
  ProcessResult Measure(std::vector<std::string> options, std::vector<std::string> command) {
    std::vector<std::string> arguments = {"measure"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return Cli(arguments);
  }
  std::vector<std::string> Script(const std::string& script) const {
    return {"/bin/sh", "-c", "cd " + work_.path().string() + "; " + script};
  }
  std::string Saved() const { return (work_.path() / "a.lab").string(); }
  Result<wire::LabTable> Table() const {
    FIELDCOST_ASSIGN(const std::string bytes, ReadFile(Saved(), 64 * kMiB));
    return wire::DecodeLabTable(bytes);
  }
  void ExpectRounds(std::uint32_t rounds) {
    const auto table = Table();
    ASSERT_TRUE(table) << table.error().message;
    ASSERT_EQ(table->parts.size(), 1U);
    EXPECT_EQ(table->parts[0].rounds, rounds);
  }
  // The lab files left in memory; none are expected.
  static std::string LabsOf(const std::filesystem::path& home) {
    std::string found;
    for (const std::filesystem::path& root : testing::MemoryRoots()) {
      std::error_code none;
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(root / home.relative_path(), none)) {
        if (entry.path().filename().string().starts_with("lab-")) found += entry.path().string();
      }
    }
    return found;
  }

  // Counts runs in a file, so that the command or --prepare can behave differently in one of them.
  static constexpr char kCount[] = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; ";

  testing::TempDir work_;
};

TEST_F(MeasureCommandTest, AScenarioThatFailsPlainlyIsNotMeasured) {
  const ProcessResult result =
      Measure({}, Script("echo first >&2; echo 'no such table' >&2; exit 3"));
  EXPECT_EQ(result.exit_status, 64);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("status 3"), HasSubstr("it wrote last: no such table")));
  EXPECT_THAT(result.output, IsEmpty());
}

TEST_F(MeasureCommandTest, IgnoreFailureAcceptsItsStatus) {
  EXPECT_EQ(Measure({"--ignore-failure", "3", "--rounds", "1"}, Script("exit 3")).exit_status, 0);
  EXPECT_EQ(Measure({"--ignore-failure", "all", "--rounds", "1"}, Script("exit 3")).exit_status, 0);
  EXPECT_EQ(Measure({"--ignore-failure", "4", "--rounds", "1"}, Script("exit 3")).exit_status, 64);
}

TEST_F(MeasureCommandTest, NamesMissingPrograms) {
  const ProcessResult program = Measure({}, {"no-such-program"});
  EXPECT_EQ(program.exit_status, 66);
  EXPECT_THAT(program.errors, HasSubstr("no such program"));
  const ProcessResult apis = Measure({"--apis", "libnone.so.1!*"}, {kVictims + "victim", "alloc"});
  EXPECT_EQ(apis.exit_status, 66);
  EXPECT_THAT(apis.errors, HasSubstr("calls nothing that --apis names"));
}

TEST_F(MeasureCommandTest, ReportsWhyProgramsCannotBeMeasured) {
  for (const char* program : {"hello_static", "hello_asan"}) {
    const ProcessResult result = Measure({}, {kVictims + program});
    EXPECT_EQ(result.exit_status, 78) << program;
    EXPECT_THAT(result.errors, HasSubstr("cannot be measured: ")) << program;
  }
  // A scenario of several programs may include such a program.
  EXPECT_EQ(Measure({"--rounds", "1"}, Script(kVictims + "hello_static; true")).exit_status, 0);
  const std::filesystem::path privileged = work_.path() / "privileged";
  std::filesystem::copy_file(kVictims + "hello", privileged);
  std::filesystem::permissions(privileged, std::filesystem::perms(04755));
  if (::geteuid() != 0) {
    EXPECT_EQ(Measure({}, {privileged.string()}).exit_status, 78);
  }
}

TEST_F(MeasureCommandTest, WrongOptionsAreRefused) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--rounds", "x"},
                                                  {"--rounds", "1001"},
                                                  {"--seed", "-1"},
                                                  {"--max-time", "soon"},
                                                  {"--timeout", "5"},
                                                  {"--scan", "N"},
                                                  {"--scan", "N="},
                                                  {"--scan", "=1"},
                                                  {"--scan", "N=1,x"},
                                                  {"--output", "there"},
                                                  {"--ignore-failure", "256"},
                                                  {"--ignore-failure", "some"}}) {
    EXPECT_EQ(Measure(options, {"true"}).exit_status, 64) << options[0] << ' ' << options[1];
  }
  EXPECT_EQ(Cli({"measure"}).exit_status, 64);
}

TEST_F(MeasureCommandTest, ATimeoutKeepsFinishedRounds) {
  // The plain run, the map run, and per round a map run and (since one API is one group) a timing
  // run: the 6th belongs to the second round even if one was repeated. It never ends.
  const ProcessResult result =
      Measure({"--rounds", "5", "--timeout", "3s", "--save", Saved(), "--apis", "*!victim_noop"},
              Script(std::string(kCount) + "if [ $n = 6 ]; then exec sleep 60; fi; exec " +
                     kVictims + "victim calls"));
  EXPECT_EQ(result.exit_status, 75) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("stopped after 1 of 5 rounds"));
  ExpectRounds(1);
}

TEST_F(MeasureCommandTest, APrepareThatFailsKeepsFinishedRounds) {
  const ProcessResult result =
      Measure({"--rounds", "5", "--save", Saved(), "--apis", "*!victim_noop", "--prepare",
               Script(std::string(kCount) + "test $n != 8")[2]},
              {kVictims + "victim", "calls"});
  EXPECT_EQ(result.exit_status, 64) << result.errors;
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("stopped after 2 of 5 rounds"), HasSubstr("ended with status 1")));
  ExpectRounds(2);
}

TEST_F(MeasureCommandTest, AnInterruptKeepsFinishedRoundsAndNothingOnMemory) {
  // The 8th run, in the third round, interrupts its grandparent as ^C does, and waits.
  const ProcessResult result =
      Shell("echo $$ > " + (work_.path() / "pid").string() +
            "; exec $fieldcost measure --rounds 5 --save " + Saved() +
            " --apis '*!victim_noop' -- /bin/sh -c 'cd " + work_.path().string() + "; " + kCount +
            "if [ $n = 8 ]; then kill -INT $(cat pid); exec sleep 60; fi; exec " + kVictims +
            "victim calls'");
  EXPECT_EQ(result.exit_status, 128 + 2) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("stopped after 2 of 5 rounds: interrupted"));
  ExpectRounds(2);
  EXPECT_EQ(LabsOf(home()), "");
}

TEST_F(MeasureCommandTest, OutputGoesWhereItIsWanted) {
  const auto output = [&](const std::string& where) {
    return Measure({"--rounds", "1", "--name", "it", "--output", where}, {"/bin/echo", "written"})
        .output;
  };
  EXPECT_THAT(output("pipe"), Not(HasSubstr("written")));
  EXPECT_THAT(output("null"), Not(HasSubstr("written")));
  EXPECT_THAT(output("inherit"), StartsWith("written\nwritten\n"));
}

TEST_F(MeasureCommandTest, ReportsDifferingOutput) {
  const ProcessResult result = Measure({"--rounds", "1"}, Script(std::string(kCount) + "echo $n"));
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("output differed from the plain run"));
}

TEST_F(MeasureCommandTest, AProgramThatStaysIsMarked) {
  const ProcessResult result =
      // Detected only if the program has started before the command ends.
      Measure({"--rounds", "0"},
              Script("sleep 30 >/dev/null 2>&1 & echo $! >> pids; [ -z \"$FIELDCOST_LAB_DIR\" ] || "
                     "until grep -q sleep /proc/$!/comm && grep -q '\\.lab' /proc/$!/maps; "
                     "do :; done"));
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("had not ended five seconds after the command"));
  Shell("kill $(cat " + (work_.path() / "pids").string() + ")");
}

TEST_F(MeasureCommandTest, APlanIsTheGroupsAndTheSameEachTime) {
  const std::vector<std::string> command = {kVictims + "nestings", "abc", "0"};
  const ProcessResult plan = Measure({"--plan", "--apis", "libnestings.so.1!*"}, command);
  EXPECT_EQ(plan.exit_status, 0);
  EXPECT_THAT(plan.output, ContainsRegex("group 1: .*\ngroup 2: .*\n"));
  EXPECT_THAT(plan.errors, HasSubstr("(fewest possible: 2 APIs share a stack)"));
  EXPECT_EQ(Measure({"--plan", "--apis", "libnestings.so.1!*"}, command).output, plan.output);
  const ProcessResult seeded = Measure({"--plan", "--seed", "7"}, command);
  EXPECT_EQ(Measure({"--plan", "--seed", "7"}, command).output, seeded.output);
}

TEST_F(MeasureCommandTest, NamesTheReasonWhyAnApiIsLeftOut) {
  const ProcessResult result =
      Measure({"--rounds", "1", "--apis", "long_named_*"}, {kVictims + "long_named"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("long_named_short"));
  EXPECT_THAT(
      result.errors,
      AllOf(HasSubstr("1 API was left out: its name is longer than 255 bytes"),
            ContainsRegex("fieldcost: left out: .*long_named_abcabc"), Not(HasSubstr("more"))));
  const ProcessResult as_json =
      Measure({"--rounds", "1", "--apis", "long_named_*", "--json"}, {kVictims + "long_named"});
  EXPECT_THAT(as_json.output, HasSubstr(R"("left_out_apis":["liblong_named.so.1!long_named_abc)"));
}

// Each call takes as long as before; only the number of calls differs.
TEST_F(MeasureCommandTest, DiffBaseNamesWhatIsCalledMoreOften) {
  const auto measure = [&](const std::string& option, const std::string& calls) {
    return Measure({"--rounds", "3", "--apis", "*!tally_*", option, Saved()},
                   {kVictims + "tally", "loop", calls});
  };
  ASSERT_EQ(measure("--save", "62").exit_status, 0);
  const ProcessResult more = measure("--diff-base", "1061");
  EXPECT_EQ(more.exit_status, 1) << more.errors;
  EXPECT_THAT(more.output,
              StartsWith("tally_always is called more often: 62 → 1,061 calls per run."));
  EXPECT_THAT(more.output, HasSubstr("(4 runs counted of the old, 4 of the new;"));
  const ProcessResult same = measure("--diff-base", "62");
  EXPECT_THAT(same.output, HasSubstr("\n0 changes in calls and bytes per run (4 runs counted"));
}

// The metrics have the field's names; those that cannot be measured are missing rather than 0.
TEST_F(MeasureCommandTest, BytesAndCyclesAreMetricsOfTheTable) {
  ASSERT_EQ(Measure({"--rounds", "1", "--save", Saved()}, {kVictims + "io", "streams"}).exit_status,
            0);
  const auto hist = [&](const std::string& api, const std::string& metric) {
    return Cli({"hist", api, "--table", Saved(), "--metric", metric});
  };
  EXPECT_THAT(hist("victim_io_write", "disk_written").output, HasSubstr("one call: 1000 B"));
  EXPECT_THAT(hist("victim_io_write", "disk_read").output, HasSubstr("one call: 0 B"));
  EXPECT_THAT(hist("victim_io_write", "cpu_cycles").output, HasSubstr("cyc"));
  const ProcessResult hidden = hist("victim_io_stream", "disk_written");
  EXPECT_EQ(hidden.exit_status, 0) << hidden.errors;
  EXPECT_THAT(hidden.output, HasSubstr("libc reads or writes files by itself"));
  EXPECT_THAT(Cli({"show", "victim_io_stream", "--table", Saved()}).output,
              HasSubstr("not measured   disk_read, disk_written: libc reads or writes files"));
  EXPECT_THAT(Cli({"show", "victim_io_write", "--table", Saved()}).output,
              HasSubstr("1 call per run, 1,000 B disk_written"));
}

TEST_F(MeasureCommandTest, AScanMeasuresTheCommandForEachNumber) {
  const ProcessResult result = Measure(
      {"--rounds", "1", "--scan", "N=1,20", "--save", Saved(), "--apis", "libnestings.so.1!nest_0"},
      {kVictims + "nestings", "threads-in-turn", "{N}"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  const auto table = Table();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->parts.size(), 2U);
  ASSERT_EQ(table->apis.size(), 1U);
  EXPECT_EQ(table->apis[0].calls, 2100U);
}

TEST_F(MeasureCommandTest, AFullMemoryFileSystemKeepsFinishedRounds) {
  const std::string script =
      "mount -t tmpfs -o size=8m none /dev/shm && { [ ! -d /run/user ] || "
      "mount -t tmpfs -o size=8m none /run/user; } && exec $fieldcost measure --rounds 5 --save " +
      Saved() + " --apis '*!victim_noop' --prepare 'cd " + work_.path().string() + "; " + kCount +
      "if [ $n = 6 ]; then cat /dev/zero > /dev/shm/full 2>/dev/null; "
      "cat /dev/zero > /run/user/full 2>/dev/null; fi; true' -- " +
      kVictims + "victim calls";
  const ProcessResult result = Start({"unshare", "-m", "/bin/sh", "-c", script},
                                     {{"fieldcost", FIELDCOST_PROGRAM}, {"XDG_RUNTIME_DIR", ""}});
  if (result.errors.starts_with("unshare:")) {
    GTEST_SKIP() << "no mount namespace: " << result.errors;
  }
  EXPECT_EQ(result.exit_status, 74) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("stopped after 1 of 5 rounds"));
  ExpectRounds(1);
}

// With an agent in mode `on`: it keeps nothing from a lab, and the lab leaves nothing behind.
class LabStaysHereTest : public MeasureCommandTest {
 protected:
  void SetUp() override { ASSERT_EQ(Cli({"agent", "on"}).exit_status, 0); }

  // Traces of programs with functions of these names, after the agent has collected.
  std::string LeftBehind() {
    std::string left = LabsOf(home());
    EXPECT_EQ(Start({FIELDCOST_DAEMON, "--once"}, {}).exit_status, 0);
    const std::string places = home().string() + " /dev/shm/fieldcost-*" + home().string();
    left += Shell("grep -rlaE 'canaryown|xx_CANARY|victim_' " + places).output;
    left += Shell("find " + places + " -name '*.run' -o -name '*.lab'").output;
    left += Shell("$fieldcost top --local | grep -E 'canaryown|CANARY|victim_'").output;
    return left;
  }
};

TEST_F(LabStaysHereTest, LeavesNothingForTheAgentHoweverTheRunEnds) {
  EXPECT_EQ(Measure({"--rounds", "1", "--ignore-failure", "3"}, {kVictims + "canaryown", "3"})
                .exit_status,
            0);
  EXPECT_EQ(LeftBehind(), "");
  EXPECT_EQ(Measure({"--rounds", "1"}, {kVictims + "victim", "alloc"}).exit_status, 0);
  EXPECT_EQ(LeftBehind(), "");
  // The measured program is killed.
  Measure({"--rounds", "1", "--ignore-failure", "all"}, {kVictims + "victim", "die"});
  EXPECT_EQ(LeftBehind(), "");
}

TEST_F(LabStaysHereTest, TheFieldsLibraryIsNotInItsPrograms) {
  const std::string own = kVictims + "canaryown";
  const std::string pick = "libcanaryown.so!canaryown_work";
  const ProcessResult lab = Cli({"run", "--pick", pick, "--", FIELDCOST_PROGRAM, "measure",
                                 "--rounds", "1", "--ignore-failure", "3", "--", own, "3"});
  EXPECT_EQ(lab.exit_status, 0) << lab.errors;
  EXPECT_EQ(LeftBehind(), "");
  Cli({"run", "--pick", pick, "--", own, "3"});
  EXPECT_THAT(LeftBehind(), HasSubstr("canaryown_work")) << "the look finds what is there";
}

// The number of functions that zlib exports, by binutils.
std::size_t ZlibFunctions() {
  const std::string script =
      "nm -D --defined-only /lib/x86_64-linux-gnu/libz.so.1 | grep -c ' [TWi] '";
  const ProcessResult counted = testing::RunProcess({.arguments = {"/bin/sh", "-c", script}});
  return std::stoul(counted.output);
}

TEST_F(MeasureCommandTest, CountsTheExportedFunctionsThatWereCalled) {
  const std::size_t all = ZlibFunctions();
  const ProcessResult two = Measure({"--rounds", "1"}, {kVictims + "two_calls"});
  EXPECT_EQ(two.exit_status, 0) << two.errors;
  EXPECT_THAT(two.output,
              HasSubstr(fmt::format("\n2 of {} functions of libz.so.1 were called\n", all)));
  EXPECT_THAT(two.output, Not(HasSubstr("not called:")));
  // Its address is taken, so that it may have been called.
  const std::string page = (work_.path() / "two.html").string();
  const ProcessResult pointer =
      Measure({"--rounds", "0", "--uncalled", "--html", page}, {kVictims + "two_calls_pointer"});
  EXPECT_EQ(pointer.exit_status, 0) << pointer.errors;
  // crc32_z is called by crc32.
  EXPECT_THAT(
      pointer.output,
      AllOf(HasSubstr(fmt::format("\n3 of {} functions of libz.so.1 were called; 1 cannot be "
                                  "measured\n  not called: adler32, ",
                                  all - 1)),
            HasSubstr("\n  cannot be measured: crc32\n"), HasSubstr(" zlibCompileFlags\n"),
            Not(HasSubstr(", zlibVersion")), Not(HasSubstr(", crc32,"))));
  EXPECT_THAT(*ReadFile(page, kMiB), AllOf(HasSubstr("Functions called, by library"),
                                           HasSubstr("libz.so.1: not called</summary>")));
}

TEST_F(MeasureCommandTest, CoverageIsThatOfTheSelectedFunctions) {
  const ProcessResult result =
      Measure({"--rounds", "0", "--json", "--apis", "libz.so.1!zlib*,libz.so.1!compress*"},
              {kVictims + "two_calls"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output,
              HasSubstr(R"("coverage":{"incomplete":false,"libraries":[{"library":"libz.so.1",)"
                        R"("called":2,"of":5,"uncalled":["compress","compress2",)"
                        R"("zlibCompileFlags"],"not_measured":[]}],"unreadable":[]})"));
}

}  // namespace
}  // namespace fieldcost::cli
