// `fieldcost trace` of real programs, and what its recordings have.
#include <sys/stat.h>

#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;

constexpr int kUsage = 64;
constexpr int kNotFound = 66;

class TraceTest : public CliTest {
 protected:
  ProcessResult Trace(std::vector<std::string> options, std::vector<std::string> command) {
    std::vector<std::string> arguments = {"trace", "-o", file()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return Cli(arguments);
  }
  std::string file() const { return (work_.path() / "a.fct").string(); }
  ProcessResult Show(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"tree", "show", file()});
    return Cli(options);
  }

  testing::TempDir work_;
};

const std::vector<std::string> kPython = {"python3", "-c", "sum(i * i for i in range(3000000))"};

TEST_F(TraceTest, StacksOfAProgramThatNobodyHereWroteHaveNames) {
  const ProcessResult traced = Trace({"--runs", "2", "--rate", "997"}, kPython);
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(traced.errors, ContainsRegex("^fieldcost: 2 runs, [0-9]+ samples, "));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  EXPECT_THAT(Show().output, AllOf(HasSubstr("cpu of 2 runs: "), HasSubstr("(sampled)"),
                                   HasSubstr("_PyEval_EvalFrameDefault")));
  // Everything is called by main, and nearly everything by the interpreter's loop.
  EXPECT_THAT(Show({"--callers", "*_PyEval_EvalFrameDefault"}).output, HasSubstr("Py_RunMain"));
  struct stat info {};
  ASSERT_EQ(::stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(TraceTest, OutputAndExitStatusAreThoseOfTheProgram) {
  const ProcessResult traced =
      Trace({"--runs", "5"}, {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(traced.exit_status, 3);
  EXPECT_EQ(traced.output, "out\n") << "a run that fails is the last one";
  EXPECT_THAT(traced.errors, AllOf(HasSubstr("err\n"), HasSubstr("1 run, ")));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
}

TEST_F(TraceTest, ASignalEndsTheProgramAndKeepsTheRecording) {
  const ProcessResult traced = Trace(
      {"--runs", "3"},
      {"/bin/sh", "-c",
       "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; kill -INT $PPID; while :; do :; done"});
  EXPECT_EQ(traced.exit_status, 130) << traced.errors;
  EXPECT_THAT(traced.errors, HasSubstr("1 run, "));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  EXPECT_THAT(Show().output, HasSubstr("cpu of 1 run: "));
}

TEST_F(TraceTest, WhatItStartsIsRecordedToo) {
  const ProcessResult traced =
      Trace({}, {"/bin/sh", "-c", "python3 -c 'sum(range(20000000))' & wait"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(Show({"--flat", "--all"}).output, HasSubstr("_PyEval_EvalFrameDefault"));
}

TEST_F(TraceTest, WrongCommandLinesAreRefused) {
  const ProcessResult none = Trace({}, {"/no/such/program"});
  EXPECT_EQ(none.exit_status, kNotFound);
  EXPECT_THAT(none.errors, HasSubstr("/no/such/program"));
  EXPECT_EQ(Trace({"--rate", "0"}, kPython).exit_status, kUsage);
  EXPECT_EQ(Trace({"--rate", "99999"}, kPython).exit_status, kUsage);
  EXPECT_EQ(Trace({"--runs", "0"}, kPython).exit_status, kUsage);
  EXPECT_EQ(Cli({"trace", "-o", file()}).exit_status, kUsage);
  const ProcessResult there = Cli({"trace", "-o", "/none/a.fct", "--", "/bin/true"});
  EXPECT_NE(there.exit_status, 0);
  EXPECT_THAT(there.errors, HasSubstr("/none/a.fct"));
}

TEST_F(TraceTest, WithoutTheRightsItSaysWhatIsMissing) {
  const ProcessResult traced =
      Start({"setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
             FIELDCOST_PROGRAM, "trace", "-o", "/tmp/fieldcost-none/a.fct", "--", "/bin/true"},
            {});
  EXPECT_NE(traced.exit_status, 0);
  EXPECT_THAT(traced.errors, Not(HasSubstr("check failed")));
}

}  // namespace
}  // namespace fieldcost::cli
