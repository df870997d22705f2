// `fieldcost trace` with real programs, and the contents of its recordings.
#include <signal.h>
#include <sys/stat.h>

#include <cstdint>

#include "common/stats/uint128.h"
#include "common/tree/tree.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"
#include "tools/cli/tree/operand.h"

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

TEST_F(TraceTest, StacksOfAForeignProgramHaveNames) {
  const ProcessResult traced = Trace({"--runs", "2", "--rate", "997"}, kPython);
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(traced.errors, ContainsRegex("fieldcost: 2 runs, [0-9,]+ samples, "));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  EXPECT_THAT(Show().output, AllOf(HasSubstr("cpu of 2 runs: "), HasSubstr("(sampled)"),
                                   HasSubstr("_PyEval_EvalFrameDefault")));
  // main calls everything, and the interpreter's loop nearly everything.
  EXPECT_THAT(Show({"--callers", "*_PyEval_EvalFrameDefault"}).output, HasSubstr("Py_RunMain"));
  struct stat info {};
  ASSERT_EQ(::stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(TraceTest, StacksGoThroughTrampolinesThatAnInterpreterGenerates) {
  const ProcessResult traced =
      Trace({"--rate", "499"}, {FIELDCOST_BINARY_DIR "/victims/trampolines"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const ProcessResult folded = Cli({"tree", "export", file(), "--to", "folded"});
  ASSERT_EQ(folded.exit_status, 0) << folded.errors;
  EXPECT_THAT(folded.output,
              ContainsRegex("trampolines!main;[^\n]*py::outer[^\n]*;trampolines!Interpret;"
                            "[^\n]*py::middle[^\n]*;trampolines!Interpret;[^\n]*py::inner[^\n]*;"
                            "trampolines!Interpret;trampolines!Spend"));
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

TEST_F(TraceTest, RecordsChildProcesses) {
  const ProcessResult traced =
      Trace({}, {"/bin/sh", "-c", "python3 -c 'sum(range(20000000))' & wait"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(Show({"--flat", "--all"}).output, HasSubstr("_PyEval_EvalFrameDefault"));
}

std::uint64_t OffCpuOf(const std::string& operand) {
  const LoadedTree loaded = LoadTree(ParseTreeOperand(operand).value()).value();
  const auto& tree = std::get<tree::Tree>(loaded.tree);
  const std::size_t metric = tree::FindMetric(tree.metrics, "off-cpu").value();
  stats::Uint128 sum = 0;
  for (const auto& value : tree.values[metric].self) sum += value.sum;
  return static_cast<std::uint64_t>(sum);
}

TEST_F(TraceTest, AWaitIsInTheIntervalsInWhichItPassesAndPartsAddUp) {
  const ProcessResult traced = Trace({}, {FIELDCOST_BINARY_DIR "/victims/waits", "pauses", "1"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const std::uint64_t whole = OffCpuOf(file());
  EXPECT_GE(whole, 2'500'000'000U);
  for (const std::uint64_t length_ms : {30U, 700U}) {
    std::uint64_t sum = 0;
    std::uint64_t full = 0;
    for (std::uint64_t from_ms = 0; from_ms < 2'400; from_ms += length_ms) {
      const std::uint64_t part =
          OffCpuOf(fmt::format("{}@{}ms..{}ms", file(), from_ms, from_ms + length_ms));
      EXPECT_LE(part, length_ms * 1'000'000) << "of one thread, from " << from_ms << " ms";
      full += part == length_ms * 1'000'000 ? 1U : 0U;
      sum += part;
    }
    EXPECT_GE(full, 1U) << "in the pause it does nothing else";
    const std::uint64_t behind_ms = (2'400 + length_ms - 1) / length_ms * length_ms;
    EXPECT_EQ(sum + OffCpuOf(fmt::format("{}@{}ms..", file(), behind_ms)), whole);
  }
}

// musl has no debug or unwind information for its code.
TEST_F(TraceTest, WaitsInMuslHaveTheStacksOfTheProgram) {
  for (const char* build : {"waits_musl", "waits_musl_static"}) {
    const std::string program = std::string(FIELDCOST_BINARY_DIR "/victims/") + build;
    if (::access(program.c_str(), X_OK) != 0) GTEST_SKIP() << program << " needs musl-gcc";
    const ProcessResult traced = Trace({}, {program, "once"});
    ASSERT_EQ(traced.exit_status, 0) << traced.errors;
    const ProcessResult exported =
        Cli({"tree", "export", file(), "--metric", "off-cpu", "--to", "folded"});
    for (int i = 1; i <= 8; ++i) {
      EXPECT_THAT(exported.output, ContainsRegex(fmt::format(
                                       "{0}!main;{0}!waits_once;{0}!waits_once_{1};", build, i)));
    }
    EXPECT_THAT(exported.output, Not(HasSubstr("[cut];" + std::string(build))));
  }
}

TEST_F(TraceTest, ThreadsAndProcessesHaveTheirNamesAndNumbers) {
  const std::string threads =
      "import ctypes, threading\n"
      "def work(name):\n"
      "  ctypes.CDLL(None).prctl(15, name)\n"
      "  sum(range(9000000))\n"
      "for name in (b'reader', b'writer'):\n"
      "  one = threading.Thread(target=work, args=(name,)); one.start(); one.join()\n";
  const ProcessResult traced =
      Trace({}, {"/bin/sh", "-c",
                 "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; "
                 "python3 -c \"" +
                     threads + "\""});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  const std::string by_thread = Show({"--by", "thread", "--flat", "--all"}).output;
  EXPECT_THAT(by_thread, ContainsRegex("\\[thread python3/reader [0-9]+\\] +.*_PyEval_EvalFrame"));
  EXPECT_THAT(by_thread, ContainsRegex("\\[thread python3/writer [0-9]+\\] +.*_PyEval_EvalFrame"));
  EXPECT_THAT(by_thread, ContainsRegex("\\[thread sh [0-9]+\\]"));
  const std::string by_process = Show({"--by", "process", "--depth", "1", "--all"}).output;
  EXPECT_THAT(by_process, ContainsRegex("\\[process python3 [0-9]+\\]"));
  EXPECT_THAT(by_process, Not(HasSubstr("reader")));
}

// The measuring library replaces the return addresses of calls that it measures.
TEST_F(TraceTest, StacksContinueThroughMeasuredCalls) {
  const ProcessResult traced = Trace(
      {"--rate", "997"}, {FIELDCOST_PROGRAM, "run", "--pick", "libz.so.1!*", "--", "python3", "-c",
                          "import zlib\nfor i in range(20): zlib.compress(b'a b c d' * 400000)"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(Show({"--callers", "deflate"}).output,
              AllOf(HasSubstr("Py_RunMain"), Not(HasSubstr("libfieldcost_preload"))));
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

TEST_F(TraceTest, AProcessThatRunsIsRecordedAndRunsOn) {
  testing::BackgroundProcess python({.arguments = {"python3", "-c",
                                                   "print('ready', flush=True)\n"
                                                   "while True: sum(range(1000))"},
                                     .environment = {},
                                     .unset = {},
                                     .directory = {},
                                     .input = {}});
  ASSERT_TRUE(python.WaitForLine("ready"));
  const ProcessResult traced =
      Cli({"trace", "-o", file(), "-p", std::to_string(python.pid()), "--for", "1s"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_EQ(::kill(python.pid(), 0), 0);
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  EXPECT_THAT(Show().output,
              AllOf(HasSubstr("cpu of 1 run: "), HasSubstr("_PyEval_EvalFrameDefault")));
}

TEST_F(TraceTest, AFailureToRecordKeepsTheLastRecording) {
  ASSERT_EQ(Trace({}, {"/bin/true"}).exit_status, 0);
  const ProcessResult gone = Cli({"trace", "-o", file(), "-p", "2147483647"});
  EXPECT_EQ(gone.exit_status, kNotFound);
  EXPECT_THAT(gone.errors, HasSubstr("2147483647: no such process"));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  EXPECT_EQ(Cli({"trace", "-p", "0"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"trace", "-p", "1", "--for", "0s"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"trace", "-p", "1", "--", "/bin/true"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"trace", "--for", "1s", "--", "/bin/true"}).exit_status, kUsage);
}

TEST_F(TraceTest, AKilledRecorderLeavesAValidRecording) {
  // Kills the recorder after it has written twice.
  const std::string grown =
      "s=$(stat -c %s " + file() + "); while [ $(stat -c %s " + file() + ") -eq $s ]; do :; done; ";
  const ProcessResult traced = Trace({}, {"/bin/sh", "-c", grown + grown + "kill -KILL $PPID"});
  ASSERT_EQ(traced.signal, SIGKILL) << traced.errors;
  const std::string recovered = (work_.path() / "b.fct").string();
  const ProcessResult done = Cli({"tree", "recover", "-o", recovered, file()});
  ASSERT_EQ(done.exit_status, 0) << done.errors;
  EXPECT_EQ(Cli({"tree", "verify", recovered}).exit_status, 0);
  EXPECT_THAT(Cli({"tree", "show", recovered}).output, HasSubstr("cpu of 1 run: "));
}

TEST_F(TraceTest, NamesMissingPrivileges) {
  const ProcessResult traced =
      Start({"setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
             FIELDCOST_PROGRAM, "trace", "-o", "/tmp/fieldcost-none/a.fct", "--", "/bin/true"},
            {});
  EXPECT_NE(traced.exit_status, 0);
  EXPECT_THAT(traced.errors, Not(HasSubstr("check failed")));
}

}  // namespace
}  // namespace fieldcost::cli
