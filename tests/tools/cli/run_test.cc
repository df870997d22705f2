#include <sstream>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

TEST_F(CliTest, InModeOffTheProgramRunsUnchangedAndOneLineReportsIt) {
  const ProcessResult result =
      Cli({"run", "--", "sh", "-c", "env; printf 'out\\n'; printf 'err\\n' >&2; exit 7"});
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_THAT(result.output, AllOf(HasSubstr("out\n"), Not(HasSubstr("LD_PRELOAD")),
                                   Not(HasSubstr("FIELDCOST_STATE_DIR"))));
  EXPECT_EQ(result.errors,
            "fieldcost: nothing is measured: fieldcost is off (fieldcost agent local|on)\nerr\n");
  EXPECT_FALSE(std::filesystem::exists(home()));
}

TEST_F(CliTest, QuietMeansNotEvenThatLine) {
  const ProcessResult result = Cli({"run", "--", "true"}, {{"FIELDCOST_QUIET", "1"}});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST_F(CliTest, ArgumentsReachTheProgramUntouched) {
  const ProcessResult result =
      Cli({"run", "--", "printf", "[%s]", "--json", "--", "a b", "", "--help"},
          {{"FIELDCOST_QUIET", "1"}});
  EXPECT_EQ(result.output, "[--json][--][a b][][--help]");
}

TEST_F(CliTest, ASignalEndsTheProgramAsItWould) {
  const ProcessResult result = Cli({"run", "--", "sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(result.signal, 15);
}

TEST_F(CliTest, ABrokenPipeEndsTheProgramAsItWould) {
  const ProcessResult result = Cli({"run", "--", "sh", "-c", "kill -PIPE $$; echo survived"});
  EXPECT_EQ(result.signal, 13);
}

TEST_F(CliTest, AMissingProgramIs127AndOneThatCannotRun126) {
  ProcessResult result = Cli({"run", "--", "no-such-program"}, {{"FIELDCOST_QUIET", "1"}});
  EXPECT_EQ(result.exit_status, 127);
  EXPECT_EQ(result.errors, "fieldcost: cannot run no-such-program: no such program\n");
  result = Cli({"run", "--", "/"}, {{"FIELDCOST_QUIET", "1"}});
  EXPECT_EQ(result.exit_status, 126);
}

TEST_F(CliTest, InModeLocalTheProgramGetsADirectoryToWriteTo) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const ProcessResult result = Cli({"run", "--metrics", "alloc,time", "--", "env"},
                                   {{"FIELDCOST_PRELOAD_LIBRARY", "/bin/sh"},
                                    {"FIELDCOST_PICK", "stale!pick"},
                                    {"LD_PRELOAD", ""}});
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("FIELDCOST_STATE_DIR=" + (home() / "state").string() + "\n"),
                    HasSubstr("FIELDCOST_METRICS=time,alloc\n"), HasSubstr("LD_PRELOAD=/bin/sh\n"),
                    Not(HasSubstr("FIELDCOST_PICK="))));
}

TEST_F(CliTest, AMissingMeasuringLibraryIsNamedAndTheProgramNotRun) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const ProcessResult result =
      Cli({"run", "--", "echo", "ran"}, {{"FIELDCOST_PRELOAD_LIBRARY", "/no/such/library.so"}});
  EXPECT_EQ(result.exit_status, 66);
  EXPECT_THAT(result.errors, HasSubstr("/no/such/library.so"));
  EXPECT_THAT(result.output, IsEmpty());
}

TEST_F(CliTest, DamagedStateKeepsNoProgramFromRunning) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  std::filesystem::remove(home() / "state" / "policy");
  std::filesystem::remove(home() / "state" / "policy.lock");
  std::filesystem::create_directory(home() / "state" / "policy.lock");
  const ProcessResult result = Cli({"run", "--", "sh", "-c", "echo \"ran$LD_PRELOAD\"; exit 7"});
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_EQ(result.output, "ran\n");
  EXPECT_THAT(result.errors, AllOf(HasSubstr("nothing is measured"), HasSubstr("policy.lock")));
  EXPECT_THAT(Cli({"run", "--", "true"}, {{"FIELDCOST_QUIET", "1"}}).errors, IsEmpty());
  const ProcessResult picked = Cli(
      {"run", "--pick", "libc.so.6!malloc", "--", "sh", "-c", "echo \"ran$LD_PRELOAD\"; exit 7"});
  EXPECT_EQ(picked.exit_status, 7);
  EXPECT_EQ(picked.output, "ran\n");
  EXPECT_THAT(picked.errors, AllOf(HasSubstr("nothing is measured"), HasSubstr("policy.lock")));
}

TEST_F(CliTest, CanBeSwitchedOffDespiteDamagedFiles) {
  for (const char* const damaged : {"agent.toml", "state/agent.db"}) {
    ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
    std::filesystem::remove(home() / "state" / "agent.db-wal");
    std::ofstream(home() / damaged) << "not [ what it was\n";
    const ProcessResult result = Cli({"agent", "off"});
    EXPECT_NE(result.exit_status, 0) << damaged;
    EXPECT_THAT(result.errors, HasSubstr("fieldcost is off, but"));
    EXPECT_FALSE(std::filesystem::exists(home() / "state" / "policy")) << damaged;
    std::filesystem::remove(home() / damaged);
    EXPECT_THAT(Cli({"agent", "status"}).output, HasSubstr("off since")) << damaged;
  }
}

TEST_F(CliTest, APickIsMeasuredEvenInModeOffAndStaysLocal) {
  const std::string script =
      "create table t(a); insert into t values (1), (2), (3); select sum(a) from t;";
  const ProcessResult run = Cli({"run", "--pick", "libsqlite3.so.0!sqlite3_step", "--metrics",
                                 "time,alloc", "--", "sqlite3", ":memory:", script});
  EXPECT_EQ(run.exit_status, 0) << run.errors;
  EXPECT_EQ(run.output, "6\n");
  EXPECT_THAT(run.errors, IsEmpty());
  const ProcessResult top = Cli({"top", "--local"});
  EXPECT_EQ(top.exit_status, 0) << top.errors;
  EXPECT_THAT(top.output, AllOf(HasSubstr("ALLOC/CALL"), HasSubstr("sqlite3_step")));
  EXPECT_THAT(Cli({"show", "--local", "sqlite3_step"}).output, HasSubstr("alloc_inclusive"));
  EXPECT_THAT(Cli({"show", "--local", "sqlite3_stp"}).errors,
              HasSubstr("did you mean libsqlite3.so.0!sqlite3_step?"));
  EXPECT_EQ(Cli({"agent", "preview"}).output, "nothing to send\n");
}

TEST_F(CliTest, MeasuresAndShowsAProgramRunByHand) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  // Uses the default probability, which would select one run in 16.
  WriteConfig(
      "[modules]\nbuiltin_modules = false\nextra_modules = [\"libvictim.so.1\"]\n"
      "[selection]\nio_probability = 0\nmax_programs = 0\n");
  // The library also has functions that are not called; drawing only these five times is unlikely.
  for (int i = 0; i < 5; ++i) {
    const ProcessResult run = Cli({"run", "--", FIELDCOST_BINARY_DIR "/victims/victim", "alloc"});
    ASSERT_EQ(run.exit_status, 0) << run.errors;
  }
  const ProcessResult top = Cli({"top", "--local"});
  EXPECT_EQ(top.exit_status, 0) << top.errors;
  EXPECT_THAT(top.output, HasSubstr("libvictim.so.1"));
}

class ShowRunTest : public CliTest {
 protected:
  ShowRunTest() { EXPECT_EQ(Cli({"agent", "local"}).exit_status, 0); }

  // No run is selected at random, so everything measured was requested.
  void SetUp() override {
    WriteConfig(
        "[modules]\nbuiltin_modules = false\nextra_modules = [\"libvictim.so.1\"]\n"
        "[selection]\nselection_probability = 0\nmax_programs = 0\n");
  }

  // All functions that the program calls: a random draw might choose functions that are not called.
  const std::string all_ = "libvictim.so.1!*";
  const std::string victim_ = FIELDCOST_BINARY_DIR "/victims/victim";
};

TEST_F(ShowRunTest, ARunShowsWhatItFoundAndEndsAsTheProgramDoes) {
  const ProcessResult plain = Start({victim_, "alloc"}, {});
  const ProcessResult run = Cli({"run", "--show", "--pick", all_, "--", victim_, "alloc"});
  EXPECT_EQ(run.exit_status, plain.exit_status);
  EXPECT_EQ(run.output, plain.output);
  EXPECT_THAT(run.errors, AllOf(HasSubstr("API"), HasSubstr("TOTAL"), HasSubstr("P50"),
                                HasSubstr("libvictim.so.1"), HasSubstr("fieldcost top --local")));
  const auto lines = std::count(run.errors.begin(), run.errors.end(), '\n');
  EXPECT_LE(lines, 13);
  EXPECT_EQ(Cli({"run", "--show", "--", "sh", "-c", victim_ + " alloc; exit 7"}).exit_status, 7);
}

TEST_F(ShowRunTest, ShowsExactlyThatRunAndItsChildren) {
  const std::string pick = "libvictim.so.1!victim_allocate";
  ASSERT_EQ(Cli({"run", "--pick", pick, "--", victim_, "alloc"}).exit_status, 0);
  const ProcessResult once = Cli({"run", "--show", "--pick", pick, "--", victim_, "alloc"});
  const ProcessResult twice = Cli({"run", "--show", "--pick", pick, "--", "sh", "-c",
                                   victim_ + " alloc; " + victim_ + " alloc"});
  const auto calls = [](const std::string& text) {
    std::istringstream words(text.substr(text.find("libvictim.so.1")));
    std::string soname;
    std::string number;
    words >> soname >> number;
    std::erase(number, ',');
    return std::stoull(number);
  };
  ASSERT_THAT(once.errors, HasSubstr("victim_allocate"));
  ASSERT_THAT(twice.errors, HasSubstr("victim_allocate"));
  EXPECT_GT(calls(once.errors), 0U);
  EXPECT_EQ(calls(twice.errors), 2 * calls(once.errors));
}

TEST_F(ShowRunTest, ShowsNothingOffATerminalOrIfUnwanted) {
  EXPECT_THAT(Cli({"run", "--", victim_, "alloc"}).errors, IsEmpty()) << "no terminal";
  EXPECT_THAT(Cli({"run", "--no-show", "--", victim_, "alloc"}).errors, IsEmpty());
  EXPECT_THAT(Cli({"run", "--show", "--", victim_, "alloc"}, {{"FIELDCOST_QUIET", "1"}}).errors,
              IsEmpty());
  const std::vector<std::string> terminal = {
      "python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "24", "80", FIELDCOST_PROGRAM, "run"};
  std::vector<std::string> shown = terminal;
  shown.insert(shown.end(), {"--pick", all_, "--", victim_, "alloc"});
  EXPECT_THAT(Start(shown, {}).output, HasSubstr("TOTAL"));
  shown = terminal;
  shown.insert(shown.end(), {"--no-show", "--", victim_, "alloc"});
  EXPECT_THAT(Start(shown, {}).output, Not(HasSubstr("TOTAL")));
}

TEST_F(ShowRunTest, RunsThatMeasureNothingReportWhy) {
  const ProcessResult run = Cli({"run", "--show", "--", "true"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.errors, AllOf(HasSubstr("nothing was measured: no public library function"),
                                HasSubstr("fieldcost run --pick")));
}

TEST_F(ShowRunTest, TopReportsHowManyRunsWereDrawn) {
  ASSERT_EQ(Cli({"run", "--pick", all_, "--", victim_, "alloc"}).exit_status, 0);
  const ProcessResult top = Cli({"top", "--local"});
  EXPECT_THAT(top.output, HasSubstr("(1 measured on request)"));
  EXPECT_THAT(Cli({"top", "--local", "--json"}).output,
              HasSubstr("\"runs\":{\"drawn\":0,\"not_drawn\":0,\"asked\":1,"));
  EXPECT_THAT(Cli({"top", "--local", "--since", "1h"}).output,
              AllOf(HasSubstr("libvictim.so.1"), Not(HasSubstr("by request"))));
  EXPECT_THAT(Cli({"top", "--local", "--since", "2100-01-01"}).output,
              HasSubstr("Nothing has been measured since then"));
  EXPECT_EQ(Cli({"top", "--since", "1h"}).exit_status, 64);
  EXPECT_THAT(Cli({"top", "--local", "--since", "yesterday"}).errors,
              HasSubstr("'yesterday'; expected a time"));
}

TEST_F(ShowRunTest, TwoTimesOfThisMachineAreCompared) {
  ASSERT_EQ(Cli({"run", "--pick", all_, "--", victim_, "alloc"}).exit_status, 0);
  // Everything was measured after that time.
  const ProcessResult before = Cli({"diff", "libvictim.so.1", "--local", "--before", "1h"});
  EXPECT_EQ(before.exit_status, 2) << before.errors;
  EXPECT_THAT(before.output, StartsWith("no API was measured both before and after\n"));
  EXPECT_THAT(
      Cli({"diff", "victim", "--local", "--before", "2h", "--since", "1d", "--json"}).output,
      HasSubstr("{\"source\":\"local\",\"before\":{\"from\":\"20"));
  const ProcessResult wrong = Cli({"diff", "victim", "--local", "--before", "2h", "--since", "1h"});
  EXPECT_EQ(wrong.exit_status, 64);
  EXPECT_THAT(wrong.errors, HasSubstr("--since is not before --before"));
  const ProcessResult unknown = Cli({"diff", "libvictm.so.1", "--local", "--before", "1h"});
  EXPECT_EQ(unknown.exit_status, 66);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean libvictim.so.1?"));
}

TEST_F(ShowRunTest, WithoutACatalogueOffersLocalMeasurements) {
  const std::vector<std::string> show = {"show", "victim_allocate"};
  EXPECT_THAT(Cli(show).errors, Not(HasSubstr("--local")));
  ASSERT_EQ(Cli({"run", "--pick", all_, "--", victim_, "alloc"}).exit_status, 0);
  ASSERT_EQ(Cli({"top", "--local"}).exit_status, 0);
  EXPECT_THAT(Cli(show).errors, HasSubstr("own measurements add --local"));
}

TEST_F(ShowRunTest, DistinguishesRunsWithoutMeasuredCallsFromNoRuns) {
  EXPECT_THAT(Cli({"top", "--local"}).output, HasSubstr("Nothing has been measured yet"));
  ASSERT_EQ(Cli({"run", "--pick", "victim_spin", "--", victim_, "alloc"}).exit_status, 0);
  EXPECT_THAT(Cli({"top", "--local"}).output,
              HasSubstr("1 run was measured so far; it called none of the functions measured\n"));
}

TEST_F(ShowRunTest, ForgettingLocalSumsAsksFirstAndErasesThem) {
  ASSERT_EQ(Cli({"run", "--pick", all_, "--", victim_, "alloc"}).exit_status, 0);
  const ProcessResult asked = Cli({"agent", "forget", "--local"});
  EXPECT_EQ(asked.exit_status, 64);
  EXPECT_THAT(asked.errors, HasSubstr("--yes"));
  EXPECT_THAT(Cli({"top", "--local"}).output, HasSubstr("libvictim.so.1"));
  EXPECT_THAT(Cli({"agent", "forget", "--local", "--yes"}).output, HasSubstr("erased: "));
  const std::string top = Cli({"top", "--local"}).output;
  EXPECT_THAT(top, HasSubstr("Nothing has been measured yet"));
  EXPECT_THAT(top, Not(HasSubstr("by request"))) << "these runs are forgotten, too";
  ASSERT_EQ(Cli({"run", "--pick", all_, "--", victim_, "alloc"}).exit_status, 0);
  EXPECT_THAT(Cli({"top", "--local"}).output, HasSubstr("(1 measured on request)"));
}

TEST_F(ShowRunTest, APauseMeasuresNothingUntilItIsOver) {
  EXPECT_THAT(Cli({"agent", "pause", "2h"}).output, HasSubstr("paused until 20"));
  const ProcessResult run = Cli({"run", "--show", "--", victim_, "alloc"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.errors, HasSubstr("fieldcost is paused (fieldcost agent resume)"));
  EXPECT_THAT(Cli({"agent", "status"}).output, HasSubstr("paused until 20"));
  EXPECT_THAT(Cli({"agent", "status", "--json"}).output, HasSubstr("\"paused\":true"));
  EXPECT_EQ(Cli({"agent", "resume"}).output, "resumed; the mode is local\n");
  EXPECT_THAT(Cli({"run", "--show", "--pick", all_, "--", victim_, "alloc"}).errors,
              HasSubstr("TOTAL"));
  EXPECT_EQ(Cli({"agent", "pause", "soon"}).exit_status, 64);
  ASSERT_EQ(Cli({"agent", "off"}).exit_status, 0);
  EXPECT_THAT(Cli({"agent", "pause"}).errors, HasSubstr("fieldcost is off"));
}

const std::string kOwn = FIELDCOST_BINARY_DIR "/victims/canaryown";

TEST_F(CliTest, PicksOfOwnLibrariesNeedNoSettingAndAreLabelledLocalOnly) {
  const ProcessResult run = Cli({"run", "--pick", "libcanaryown.so!canaryown_work", "--", kOwn});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(run.output, "10\n");
  EXPECT_THAT(run.errors, IsEmpty());
  ASSERT_EQ(Cli({"run", "--pick", "libc.so.6!puts,libc.so.6!printf,libc.so.6!fflush", "--", kOwn})
                .exit_status,
            3);
  EXPECT_THAT(Cli({"top", "--local"}).output,
              ContainsRegex("canaryown_work +libcanaryown.so \\(local only\\) "));
  EXPECT_THAT(Cli({"show", "--local", "canaryown_work"}).output,
              ContainsRegex("^libcanaryown.so!canaryown_work .* local only\n"));
  EXPECT_THAT(Cli({"show", "--local", "--json", "canaryown_work"}).output,
              HasSubstr("\"local_only\":true"));
  // Other functions of a public library may be sent.
  EXPECT_THAT(Cli({"show", "--local", "--json", "fflush"}).output,
              HasSubstr("\"local_only\":false"));
}

const std::string kScopes = FIELDCOST_BINARY_DIR "/victims/scopes";

TEST_F(CliTest, APickIsANameOfCxxAsItsSourceHasIt) {
  const auto measured = [&](const std::string& pick) {
    std::filesystem::remove_all(home());
    const ProcessResult run = Cli({"run", "--pick", pick, "--", kScopes});
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_EQ(run.errors, "") << pick;
    return Cli({"search", "scopes::", "--local", "--csv"}).output;
  };
  for (const char* pick : {"libscopes.so.1!scopes::Reader::Read", "Reader::Read"}) {
    EXPECT_THAT(measured(pick),
                AllOf(HasSubstr("_ZN6scopes6Reader4ReadEl"), HasSubstr("_ZNK6scopes6Reader4ReadEd"),
                      Not(HasSubstr("ReadAll")), Not(HasSubstr("Writer"))))
        << pick;
  }
  EXPECT_THAT(measured("scopes::Reader::*"),
              AllOf(HasSubstr("Reader4ReadEl"), HasSubstr("ReadAll"), HasSubstr("ReaderC1El"),
                    Not(HasSubstr("Writer"))));
  // Missing functions are reported by the requested name.
  EXPECT_THAT(Cli({"run", "--pick", "scopes::Reader::Raed", "--", kScopes}).errors,
              AllOf(HasSubstr("nothing measured for 'scopes::Reader::Raed': not called from the"),
                    HasSubstr("did you mean libscopes.so.1!scopes::Reader::Read")));
  EXPECT_EQ(Cli({"run", "--pick", "scopes::Reader::Read(long)", "--", kScopes}).exit_status, 64);
}

TEST_F(CliTest, ReportsUnfulfilledPicksAfterTheRun) {
  ProcessResult run =
      Cli({"run", "--pick", "libcanaryown.so!canaryown_wrk,libcanaryown.so!*", "--", kOwn});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(run.output, "10\n");
  EXPECT_EQ(run.errors,
            "fieldcost: nothing measured for 'libcanaryown.so!canaryown_wrk': not called from the "
            "program or another library. --pick 'libcanaryown.so!*' measures every function called "
            "there; did you mean libcanaryown.so!canaryown_work?\n");
  run = Cli({"run", "--pick", "libcanaryowm.so!*", "--", kOwn});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_THAT(run.errors,
              AllOf(HasSubstr("nothing measured for 'libcanaryowm.so!*'"), HasSubstr("soname")));
  // The function exists, but is called only later.
  const std::vector<std::string> idle = {"run", "--pick", "libcanaryown.so!canaryown_idle", "--",
                                         kOwn};
  EXPECT_THAT(Cli(idle).errors, HasSubstr("not called from the program"));
  std::vector<std::string> called = idle;
  called.push_back("call");
  EXPECT_THAT(Cli(called).errors, IsEmpty());
  // Also the second time, although the first run has left results.
  EXPECT_THAT(Cli(idle).errors, HasSubstr("not called from the program"));
  EXPECT_THAT(Cli(idle, {{"FIELDCOST_QUIET", "1"}}).errors, IsEmpty());
}

TEST_F(CliTest, ReportsWhyAProgramIsNotMeasuredDespiteAPick) {
  const std::string sanitizer = FIELDCOST_BINARY_DIR "/victims/libvictim_msan.so";
  const ProcessResult run =
      Cli({"run", "--pick", "libcanaryown.so!*", "--", kOwn}, {{"LD_PRELOAD", sanitizer}});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(run.errors,
            "fieldcost: nothing measured for 'libcanaryown.so!*': the program is built with a "
            "sanitizer\n");
}

TEST_F(CliTest, ARunWithAPickEndsAsItsProgram) {
  const auto picked = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--pick", "libcanaryown.so!*", "--"});
    return Cli(std::move(arguments), {{"FIELDCOST_QUIET", "1"}});
  };
  EXPECT_EQ(picked({kOwn, "abort"}).signal, 6);
  EXPECT_EQ(picked({"sh", "-c", "kill -TERM $$"}).signal, 15);
  EXPECT_EQ(picked({"sh", "-c", "kill -PIPE $$; echo survived"}).signal, 13);
  // Terminating the command terminates the program.
  const ProcessResult passed_on = picked(
      {"sh", "-c",
       "trap 'kill $!; echo ended; exit 5' TERM; kill -TERM $PPID; sleep 30 >&- 2>&- & wait"});
  EXPECT_EQ(passed_on.exit_status, 5);
  EXPECT_EQ(passed_on.output, "ended\n");
  const ProcessResult missing =
      Cli({"run", "--pick", "libcanaryown.so!*", "--", "no-such-program"});
  EXPECT_EQ(missing.exit_status, 127);
  EXPECT_EQ(missing.errors, "fieldcost: cannot run no-such-program: no such program\n");
}

}  // namespace
}  // namespace fieldcost::cli
