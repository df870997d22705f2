// `fieldcost trace --events`: events counted in programs, in addition to samples.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using testing::ProcessResult;

constexpr int kUsage = 64;
const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
// Compresses for a while in a library that is not built here.
const std::vector<std::string> kCompressing = {
    "python3", "-c",
    "import zlib\nfor i in range(40): zlib.compress(bytes(j * j >> 3 & 255 for j in "
    "range(65536)))"};

class TraceEventsTest : public CliTest {
 protected:
  ProcessResult Trace(const std::string& events, const std::vector<std::string>& command,
                      std::vector<std::string> options = {}) {
    std::vector<std::string> arguments = {"trace", "-o", file(), "--events", events};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return Cli(arguments);
  }
  std::string file() const { return (work_.path() / "a.fct").string(); }

  // Keyed by "function/function" from the first one with events: inclusive costs per run.
  std::map<std::string, std::string> Costs(const std::string& operand, const std::string& metric) {
    const ProcessResult shown =
        Cli({"tree", "show", operand, "--metric", metric, "--all", "--json"});
    EXPECT_EQ(shown.exit_status, 0) << shown.errors;
    const std::string json = (work_.path() / "shown.json").string();
    std::ofstream(json) << shown.output;
    const std::string lines = Start({"python3", "-c", R"(
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
names = []
for node in nodes:
    parent = names[node["parent"]] if names else None
    name = "" if parent is None else node.get("function") or node["name"].split(" ")[0].split("so")[-1]
    names.append(parent + "/" + name if parent else name)
    if int(node["inclusive"]) and name: print(node["inclusive"], names[-1])
)",
                                     json},
                                    {})
                                  .output;
    std::map<std::string, std::string> costs;
    std::istringstream input(lines);
    for (std::string cost, path; input >> cost && std::getline(input >> std::ws, path);) {
      costs[path] = cost;
    }
    return costs;
  }

  testing::TempDir work_;
};

TEST_F(TraceEventsTest, CallsOfFunctionsAreExactAndHaveNames) {
  const ProcessResult plain = Start({kVictims + "traced", "work"}, {});
  const ProcessResult traced = Trace("functions", {kVictims + "traced", "work"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_EQ(traced.output, plain.output);
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  const auto calls = Costs(file(), "calls");
  // Inclusive counts: a function's own calls and those of its callees.
  EXPECT_THAT(calls, ElementsAre(Pair("work", "6"), Pair("work/leaf", "1"),
                                 Pair("work/middle", "4"), Pair("work/middle/leaf", "3")));
}

TEST_F(TraceEventsTest, EventsOfAProgramWithOneThreadAreThatThreads) {
  const ProcessResult traced = Trace("functions", {kVictims + "traced", "work"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const ProcessResult shown =
      Cli({"tree", "show", file(), "--by", "thread", "--metric", "calls", "--depth", "1"});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  EXPECT_THAT(shown.output, ::testing::ContainsRegex("\n100.0 % +6 +\\[thread traced [0-9]+\\]\n"));
}

TEST_F(TraceEventsTest, EventsOfAProgramWithSeveralThreadsAreEachThreads) {
  const ProcessResult traced = Trace("functions", {kVictims + "traced", "threads"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const ProcessResult shown =
      Cli({"tree", "show", file(), "--by", "thread", "--metric", "calls", "--depth", "1", "--all"});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  // 1,000 calls of work(), each with 5 more calls.
  std::size_t threads = 0;
  std::istringstream lines(shown.output);
  for (std::string line; std::getline(lines, line);) {
    threads += std::regex_match(line, std::regex(" *25.0 % +6,000 +\\[thread traced [0-9]+\\]"));
  }
  EXPECT_EQ(threads, 4U) << shown.output;
  EXPECT_THAT(shown.output, Not(::testing::ContainsRegex("[1-9][0-9,]* +\\[several threads\\]")));
}

TEST_F(TraceEventsTest, CallsOfALibraryAreExactAndSamplesShowWhatLiesBelow) {
  const ProcessResult traced = Trace("libz.so.1!*", kCompressing, {"--rate", "997"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(traced.errors, Not(HasSubstr("lost events")));
  const auto calls = Costs(file(), "calls");
  EXPECT_THAT(calls, AllOf(Contains(Pair("deflateEnd", "40")), Contains(Pair("zlibVersion", "1")),
                           Contains(Pair("deflate/adler32/adler32_z", "80"))));
  // Most of the CPU time is in functions that have no events.
  const auto cpu = Costs(file(), "cpu");
  ASSERT_TRUE(cpu.contains("deflate"));
  std::uint64_t below = 0;
  for (const auto& [path, cost] : cpu) {
    const bool is_below = path.starts_with("deflate/+0x") && path.find('/', 8) == path.npos;
    if (is_below) below += std::stoull(cost);
  }
  EXPECT_GT(below, std::stoull(cpu.at("deflate")) / 2);
}

TEST_F(TraceEventsTest, PartsOfTimeAddUp) {
  ASSERT_EQ(Trace("libz.so.1!*", kCompressing).exit_status, 0);
  const auto whole = Costs(file(), "calls");
  const auto before = Costs(file() + "@..250ms", "calls");
  const auto after = Costs(file() + "@250ms..", "calls");
  ASSERT_FALSE(whole.empty());
  for (const auto& [path, cost] : whole) {
    const auto of = [&](const auto& part) {
      const auto found = part.find(path);
      return found == part.end() ? 0 : std::stoull(found->second);
    };
    EXPECT_EQ(of(before) + of(after), std::stoull(cost)) << path;
  }
}

TEST_F(TraceEventsTest, DistinguishesBranchesByTheirLines) {
  const ProcessResult traced = Trace("branches", {kVictims + "blocks"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const std::string shown = Cli({"tree", "show", file(), "--metric", "branches", "--all"}).output;
  EXPECT_THAT(shown, AllOf(HasSubstr("[branches]"), HasSubstr("even at blocks.c:"),
                           HasSubstr("odd at blocks.c:")));
}

TEST_F(TraceEventsTest, SeveralRunsAreComparedRunByRun) {
  ASSERT_EQ(Trace("functions", {kVictims + "traced", "work"}, {"--runs", "3"}).exit_status, 0);
  EXPECT_THAT(Cli({"tree", "show", file(), "--metric", "calls"}).output,
              HasSubstr("calls of 3 runs: 6 a run"));
  const ProcessResult same = Cli({"tree", "diff", file(), file(), "--metric", "calls"});
  EXPECT_NE(same.exit_status, 1) << same.output;
}

// A program without permission for perf_event_open(2), as is usual on Debian, and its children.
const std::string kForbidPerf = R"(
import ctypes, os, struct, sys
PERF_EVENT_OPEN, NUMBER, ALLOW, DENY = 298, 0, 0x7fff0000, 0x00050001
code = b"".join(struct.pack("HBBI", *one) for one in [
    (0x20, 0, 0, NUMBER), (0x15, 0, 1, PERF_EVENT_OPEN), (0x06, 0, 0, DENY), (0x06, 0, 0, ALLOW)])
libc, bytes_ = ctypes.CDLL(None), ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(bytes_)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
os.execvp(sys.argv[1], sys.argv[1:])
)";

TEST_F(TraceEventsTest, ReportsOnlyEventsIfSamplingIsForbidden) {
  const ProcessResult traced =
      Start({"python3", "-c", kForbidPerf, FIELDCOST_PROGRAM, "trace", "-o", file(), "--events",
             "functions", "--", kVictims + "traced", "work"},
            {{"FIELDCOST_HOME", home().string()}});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(traced.errors, AllOf(HasSubstr("events alone, no samples: "),
                                   HasSubstr("kernel.perf_event_paranoid")));
  EXPECT_THAT(Costs(file(), "calls"), Contains(Pair("work/middle/leaf", "3")));
  for (const char* metric : {"cpu", "off-cpu", "page-faults", "context-switches"}) {
    EXPECT_THAT(Cli({"tree", "show", file(), "--metric", metric}).errors,
                HasSubstr("was not measured"))
        << metric;
  }
  const ProcessResult sampled = Start(
      {"python3", "-c", kForbidPerf, FIELDCOST_PROGRAM, "trace", "-o", file(), "--", "/bin/true"},
      {});
  EXPECT_EQ(sampled.exit_status, 77) << sampled.errors;
}

TEST_F(TraceEventsTest, LeavesNoFilesBehind) {
  ASSERT_EQ(Trace("functions", {kVictims + "traced", "work"}).exit_status, 0);
  std::vector<std::string> left;
  for (const char* root : {"/dev/shm", "/run/user"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             root, std::filesystem::directory_options::skip_permission_denied, error)) {
      const std::string path = entry.path().string();
      if (path.find(home().string()) != std::string::npos &&
          path.find("/trace-") != std::string::npos) {
        left.push_back(path);
      }
    }
  }
  EXPECT_THAT(left, IsEmpty());
}

TEST_F(TraceEventsTest, FunctionsThatAreNotCalledAreNamed) {
  const ProcessResult result = Trace("victim_allocate,victim_alocate,libnone.so!*",
                                     {FIELDCOST_BINARY_DIR "/victims/victim", "alloc"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, Not(HasSubstr("victim_allocate: not called")));
  EXPECT_THAT(result.errors, HasSubstr("*!victim_alocate: not called"));
  EXPECT_THAT(result.errors, HasSubstr("libnone.so!*: not called"));
}

TEST_F(TraceEventsTest, AStaticProgramHasNoEventsForTheReasonThatAllCommandsGive) {
  const ProcessResult result = Trace("functions", {FIELDCOST_BINARY_DIR "/victims/hello_static"});
  EXPECT_THAT(result.errors, HasSubstr("no events are recorded: "));
  EXPECT_THAT(result.errors, HasSubstr("linked statically, so nothing can be loaded into it"));
}

TEST_F(TraceEventsTest, WrongListsAreRefused) {
  for (const char* wrong : {"", ",", "functions,branch", "function", "libz.so.1", "a/b"}) {
    const ProcessResult refused = Trace(wrong, {"/bin/true"});
    EXPECT_EQ(refused.exit_status, kUsage) << wrong;
  }
  EXPECT_THAT(Trace("", {"/bin/true"}).errors, HasSubstr("[LIBRARY!]FUNCTION"));
  EXPECT_THAT(Trace("function", {"/bin/true"}).errors, HasSubstr("did you mean functions?"));
  EXPECT_THAT(Trace("libz.so.1", {"/bin/true"}).errors, HasSubstr("'libz.so.1!*'"));
  EXPECT_EQ(Cli({"trace", "--events", "functions", "-p", "1"}).exit_status, kUsage);
}

TEST_F(TraceEventsTest, NamesTheFunctionsWhoseBytesAreNotMeasuredAndWhy) {
  const ProcessResult traced = Trace("libwords.so.1!*", {kVictims + "words", "hidden"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  const ProcessResult shown = Cli({"tree", "show", file(), "--metric", "disk-written"});
  const std::string text = shown.output + shown.errors;
  EXPECT_THAT(text, HasSubstr("bytes not measured of words_print: libc reads or writes"));
  EXPECT_THAT(text, Not(HasSubstr("not measured of words_write")));
}

}  // namespace
}  // namespace fieldcost::cli
