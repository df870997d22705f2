#include <filesystem>
#include <sstream>
#include <tuple>

#include "common/shm/selection.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// Steps through a measured call one instruction at a time. At each instruction, a signal handler
// unwinds to the program's start, re-enters measured functions, throws and catches, or leaves the
// call by an exception or siglongjmp.

namespace fieldcost::testing {
namespace {

constexpr char kPicks[] =
    "libvictim.so.1!victim_noop,libvictim.so.1!victim_t*,libvictim.so.1!victim_a*,"
    "libvictim.so.1!victim_c*,libvictim.so.1!victim_fresh*";

// The output without lines that begin with '#', and the number of instructions stepped through.
struct Walk {
  std::string output;
  int covered = 0;
};
Walk Read(const std::string& output) {
  Walk walk;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    constexpr char kCovered[] = "# covered ";
    if (line.starts_with(kCovered)) {
      walk.covered = std::stoi(line.substr(sizeof kCovered - 1));
    } else {
      walk.output += line + '\n';
    }
  }
  return walk;
}

struct How {
  const char* name;
  const char* action;
  const char* metrics;
};
constexpr How kHow[] = {{"observe", "observe", "time"},
                        {"observe_metered", "observe", "time,alloc"},
                        {"throw_metered", "throw", "time,alloc"},
                        {"jump", "jump", "time"}};

class StepperTest : public PreloadTest,
                    public ::testing::WithParamInterface<std::tuple<const char*, How>> {};

TEST_P(StepperTest, EveryInstructionMayBeInterrupted) {
  const auto [path, how] = GetParam();
  const std::vector<std::string> command = {kVictims + "stepper", path, how.action};
  const ProcessResult plain = RunProcess({.arguments = command});
  ASSERT_EQ(plain.exit_status, 0) << plain.output;
  ProcessOptions options = Measured(command, kPicks);
  options.environment.emplace_back("FIELDCOST_METRICS", how.metrics);
  const ProcessResult measured = RunProcess(options);
  EXPECT_EQ(Read(measured.output).output, Read(plain.output).output);
  EXPECT_EQ(measured.errors, plain.errors);
  EXPECT_EQ(measured.exit_status, 0);
  EXPECT_GT(Read(measured.output).covered, 80);
  std::cout << Read(measured.output).covered << " instructions\n";

  // However calls were left, the thread continues to measure: the last 10,000 are all recorded.
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_GE(runs[0].Of("victim_noop", shm::Metric::kWallTime).count, 10000U);
}

TEST_F(PreloadTest, EveryInstructionOfASampledCallMayBeInterrupted) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .sampling_log2 = 1});
  for (const How& how : {kHow[0], kHow[3]}) {
    SCOPED_TRACE(how.name);
    std::filesystem::remove_all(state_dir_.path() / "runs");
    std::filesystem::create_directory(state_dir_.path() / "runs");
    const std::vector<std::string> command = {kVictims + "stepper", "sampled", how.action};
    const ProcessResult plain = RunProcess({.arguments = command});
    ProcessOptions options = Measured(command, kPicks);
    options.environment.emplace_back("FIELDCOST_METRICS", how.metrics);
    const ProcessResult measured = RunProcess(options);
    EXPECT_EQ(Read(measured.output).output, Read(plain.output).output);
    EXPECT_EQ(measured.errors, plain.errors);
    EXPECT_EQ(measured.exit_status, 0);
    EXPECT_GT(Read(measured.output).covered, 80);
    const auto runs = RunFiles();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_GE(runs[0].calls.at("victim_noop"), 10000U);
    EXPECT_GE(runs[0].Of("victim_noop", shm::Metric::kWallTime).count, 1000U);
  }
}

// A signal handler that interrupts a measured call makes the first calls of watched functions. The
// interrupted call's arguments and result must survive, including those that the thunk keeps in the
// record for a moment.
TEST_F(PreloadTest, SightingsMayInterruptEveryInstructionOfAMeasuredCall) {
  const std::vector<std::string> command = {kVictims + "stepper", "arguments", "sight"};
  const ProcessResult plain = RunProcess({.arguments = command});
  ASSERT_EQ(plain.exit_status, 0) << plain.output;
  const auto hash = shm::ApiHash("libvictim.so.1", "victim_stack_arguments", "");
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"},
                                           .weights = {{hash, shm::kFullWeight, 0}},
                                           .default_weight = 1,
                                           .draw_seed = seed});
    ProcessOptions options = Measured(command);
    const ProcessResult measured = RunProcess(options);
    EXPECT_EQ(Read(measured.output).output, Read(plain.output).output) << seed;
    EXPECT_EQ(measured.exit_status, 0);
  }
  int interrupted = 0;
  std::uint32_t called = 0;
  for (const RunFileContent& run : RunFiles()) {
    if (run.picks.empty()) continue;
    const shm::Pick& pick = run.picks.back();
    if (std::string(pick.symbol) != "victim_stack_arguments") continue;
    ++interrupted;
    called += pick.called;
  }
  EXPECT_GE(interrupted, 10);
  EXPECT_GE(called, 100U) << "functions were sighted";
}

TEST_F(PreloadTest, EveryInstructionBeforeAFunctionThatIsNoticedMayBeInterrupted) {
  const std::vector<std::string> command = {kVictims + "stepper", "look-up", "observe"};
  const ProcessResult plain = RunProcess({.arguments = command});
  ASSERT_EQ(plain.exit_status, 0) << plain.output;
  const ProcessResult measured = RunProcess(Measured(command, kPicks));
  EXPECT_EQ(Read(measured.output).output, Read(plain.output).output);
  EXPECT_EQ(measured.exit_status, 0);
  EXPECT_GT(Read(measured.output).covered, Read(plain.output).covered + 20);
}

INSTANTIATE_TEST_SUITE_P(Paths, StepperTest,
                         ::testing::Combine(::testing::Values("usual", "tail", "fresh", "nested",
                                                              "after-abandoned", "first",
                                                              "high-stack"),
                                            ::testing::ValuesIn(kHow)),
                         [](const auto& walk) {
                           std::string name = std::string(std::get<0>(walk.param)) + "_" +
                                              std::get<1>(walk.param).name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace fieldcost::testing
