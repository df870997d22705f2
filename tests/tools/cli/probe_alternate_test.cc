// `fieldcost probe compare -- OLD -- NEW` and `probe run` with real programs.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/probe_fixture.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
constexpr int kSlower = 1;
constexpr int kUnsupported = 78;

class ProbeAlternateTest : public ProbeCommandTest {
 protected:
  // Copies the program under this name.
  std::string Copy(const std::string& program, const std::string& name) {
    const std::string copy = Path(name);
    std::filesystem::copy_file(program, copy);
    return copy;
  }
  ProcessResult Compare(std::vector<std::string> options, const std::vector<std::string>& before,
                        const std::vector<std::string>& after) {
    options.insert(options.begin(), {"probe", "compare"});
    options.emplace_back("--");
    options.insert(options.end(), before.begin(), before.end());
    options.emplace_back("--");
    options.insert(options.end(), after.begin(), after.end());
    return Cli(options);
  }
  // The programs of the events on this machine, oldest first.
  std::string ProgramsInOrder() {
    const json::value listed = json::parse(Cli({"probe", "list", "--all", "--json"}).output);
    std::string programs;
    for (const json::value& event : listed.at("events").as_array()) {
      programs.insert(0, std::string(event.at("program").as_string()) + " ");
    }
    return programs;
  }
};

TEST_F(ProbeAlternateTest, RunsBothProgramsByTurnsAndComparesThemAsOne) {
  const std::string before = Copy("/usr/bin/gzip", "old");
  const std::string after = Copy("/usr/bin/gzip", "new");
  const std::string text = Path("text");
  std::ofstream(text) << std::string(1 << 20, 'x');
  // Equal programs, with a limit that chance cannot exceed.
  const ProcessResult compared = Compare({"--runs", "5", "--fail-above", "10000%", "--json"},
                                         {before, "-1", "-c", text}, {after, "-1", "-c", text});
  EXPECT_EQ(compared.exit_status, 0) << compared.errors;
  EXPECT_EQ(ProgramsInOrder(), "old new new old new old old new new old ");
  const json::value parsed = json::parse(compared.output);
  ASSERT_EQ(parsed.at("labels").as_array().size(), 1U);
  const json::value& label = parsed.at("labels").at(0);
  EXPECT_EQ(label.at("program"), "old");
  EXPECT_EQ(label.at("by_run"), true);
  EXPECT_EQ(label.at("total").at("base_events"), 5);
  EXPECT_EQ(label.at("total").at("new_events"), 5);
  EXPECT_TRUE(parsed.at("left_out").as_array().empty());
}

// Sleeping: a busy machine makes both sides longer but never reverses the planted difference.
TEST_F(ProbeAlternateTest, NamesTheStepOfARealProgramThatTakesLonger) {
  const std::string points = Path("probe.toml");
  std::ofstream(points) << "[[point]]\nlabel = \"slept\"\nat = \"libc.so.6!*nanosleep\"\n"
                           "when = \"return\"\n";
  const ProcessResult compared =
      Compare({"--runs", "5", "--fail-above", "50%", "--points", points, "--json"},
              {"/usr/bin/sleep", "0.01"}, {"/usr/bin/sleep", "0.4"});
  EXPECT_EQ(compared.exit_status, kSlower) << compared.output << compared.errors;
  const json::value parsed = json::parse(compared.output);
  EXPECT_EQ(parsed.at("change"), "more");
  bool is_named = false;
  for (const json::value& step : parsed.at("labels").at(0).at("steps").as_array()) {
    if (step.at("name") == "slept") is_named = step.at("change") == "more";
  }
  EXPECT_TRUE(is_named) << compared.output;
}

// Keeps one CPU busy until it is destroyed.
class BusyLoop {
 public:
  explicit BusyLoop(int cpu) : pid_(::fork()) {
    if (pid_ != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    for (;;) __asm__ volatile("");
  }
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;
  ~BusyLoop() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

// Next to a loop on the same CPU, one side has a higher priority than the loop (if permitted, else
// the same) and the other one a much lower priority.
TEST_F(ProbeAlternateTest, ReportsThatTheSidesRanUnderDifferentLoad) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "no /proc/PID/schedstat";
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  const BusyLoop loop(cpu);
  const std::string bytes = Path("bytes");
  std::filesystem::copy_file(FIELDCOST_PROGRAM, bytes);
  std::filesystem::resize_file(bytes, 1 << 19);
  const auto beside = [&](const std::string& niceness) {
    return std::vector<std::string>{"/usr/bin/nice",    "-n", niceness,
                                    "/usr/bin/taskset", "-c", std::to_string(cpu),
                                    "/usr/bin/gzip",    "-c", bytes};
  };
  const ProcessResult compared =
      Compare({"--runs", "5", "--label", "gzip"}, beside("-15"), beside("10"));
  EXPECT_EQ(compared.exit_status, 0) << compared.errors;
  EXPECT_THAT(compared.output, HasSubstr("the sides ran under different load"));
}

// Statically linked programs load no library, so their points cannot be recorded.
TEST_F(ProbeAlternateTest, GivesTheReasonWhyAProgramHasNoPoints) {
  const std::string fixed = kVictims + "hello_static";
  for (const ProcessResult& refused :
       {Cli({"probe", "run", "--local", "--", fixed}), Compare({}, {fixed}, {"/usr/bin/true"}),
        Compare({}, {"/usr/bin/true"}, {fixed})}) {
    EXPECT_EQ(refused.exit_status, kUnsupported) << refused.errors;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("hello_static: its points cannot be recorded: "),
                                      HasSubstr("static")));
    EXPECT_EQ(refused.output, "");
  }
}

TEST_F(ProbeAlternateTest, ReportsEachPointThatWasNeverPassedAndOnceIfItRunsOften) {
  const std::string points = Path("probe.toml");
  std::ofstream(points) << "[[point]]\nlabel = \"ended\"\nat = \"libc.so.6!exit\"\n"
                           "[[point]]\nlabel = \"nowhere\"\nat = \"libnowhere.so.1!f\"\n"
                           "[[point]]\nlabel = \"inside\"\nat = \"hello!main\"\n"
                           "[[point]]\nlabel = \"wrong\"\nat = \"libc.so.6!getpidd\"\n";
  const std::string hello = kVictims + "hello";
  const auto lines = [](const ProcessResult& result) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = result.errors.find("was never passed", at)) != std::string::npos;
         ++at) {
      ++count;
    }
    return count;
  };
  const auto reasons =
      AllOf(HasSubstr("point nowhere was never passed: libnowhere.so.1!f: no program or library"),
            HasSubstr("point inside was never passed: hello!main: it is not called through a slot"),
            HasSubstr("no such function in libc.so.6: did you mean getpid?"));
  const ProcessResult run = Cli({"probe", "run", "--local", "--points", points, "--", hello});
  EXPECT_EQ(run.exit_status, 0) << run.errors;
  EXPECT_THAT(run.errors, reasons);
  const std::size_t once = lines(run);
  EXPECT_GE(once, 3U);
  const ProcessResult compared = Compare({"--runs", "5", "--points", points}, {hello}, {hello});
  EXPECT_EQ(compared.exit_status, 0) << compared.errors;
  EXPECT_THAT(compared.errors, reasons);
  EXPECT_EQ(lines(compared), 2 * once) << compared.errors;  // from the first run of each side
}

// The library's own stub is above main(), but the stack reaches the beginning of the program.
TEST_F(ProbeAlternateTest, AStackOfTheMainThreadIsWhole) {
  const ProcessResult run =
      Cli({"probe", "run", "--local", "--stacks", "--", kVictims + "probed", "scopes"});
  EXPECT_EQ(run.exit_status, 0) << run.errors;
  const json::value shown = json::parse(Cli({"probe", "show", "last", "--json"}).output);
  std::size_t stacks = 0;
  for (const json::value& point : shown.at("events").at(0).at("points").as_array()) {
    if (point.at("stack").is_null()) continue;
    ++stacks;
    EXPECT_EQ(point.at("stack_is_cut"), false) << point;
    EXPECT_THAT(json::serialize(point.at("stack")), HasSubstr("\"main\""));
  }
  EXPECT_GT(stacks, 0U) << shown;
  EXPECT_THAT(Cli({"probe", "show", "last", "--stacks"}).output, Not(HasSubstr("[truncated]")));
}

}  // namespace
}  // namespace fieldcost::cli
