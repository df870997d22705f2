// `fieldcost trace --counters`: counts events if possible, and otherwise reports that it is not.
#include <map>
#include <sstream>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;

constexpr int kUsage = 64;
constexpr double kPeriod = 101;  // between faults
const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
const std::string kHardware = "cycles,instructions,cache-misses,branch-misses";

class TraceCountersTest : public CliTest {
 protected:
  ProcessResult Trace(const std::string& counters, const std::vector<std::string>& command) {
    std::vector<std::string> arguments = {"trace", "-o", file(), "--counters", counters, "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return Cli(arguments);
  }
  std::string file() const { return (work_.path() / "a.fct").string(); }
  // The page faults of each function itself.
  std::map<std::string, std::uint64_t> Faults() {
    const ProcessResult folded =
        Cli({"tree", "export", "--to", "folded", "--metric", "faults", file()});
    EXPECT_EQ(folded.exit_status, 0) << folded.errors;
    std::map<std::string, std::uint64_t> faults;
    std::istringstream lines(folded.output);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t blank = line.rfind(' ');
      const std::string path = line.substr(0, blank);
      faults[path.substr(path.find_last_of(";!") + 1)] += std::stoull(line.substr(blank));
    }
    return faults;
  }

  testing::TempDir work_;
};

TEST_F(TraceCountersTest, AttributesFaultsToTheirFunctions) {
  const ProcessResult traced = Trace("faults", {kVictims + "faults", "1000", "600"});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_EQ(traced.output, "1000 and 600 pages\n");
  EXPECT_THAT(traced.errors, Not(HasSubstr("not measured")));
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  auto faults = Faults();
  EXPECT_NEAR(static_cast<double>(faults["faults_main"]), 1000, kPeriod);
  EXPECT_NEAR(static_cast<double>(faults["faults_thread"]), 600, kPeriod);
  std::uint64_t all = 0;
  for (const auto& [function, count] : faults) all += count;
  EXPECT_GE(all, 1600U) << "counts below one sample are reported, too";
  EXPECT_THAT(Cli({"tree", "show", file()}).output, HasSubstr("cpu of 1 run: "));
}

TEST_F(TraceCountersTest, ACounterIsRecordedOrReportedAsNotMeasured) {
  const ProcessResult traced = Trace(kHardware + ",faults", {"/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(traced.exit_status, 3) << "the program's status, with or without counters";
  const std::string shown =
      Cli({"tree", "show", file(), "--metric", "no-such-metric"}).errors + ", ";
  EXPECT_THAT(shown, AllOf(HasSubstr(" faults,"), HasSubstr(" off-cpu")));
  std::istringstream names(kHardware);
  for (std::string name; std::getline(names, name, ',');) {
    const bool is_said =
        traced.errors.find("fieldcost: " + name + ": not measured: ") != std::string::npos;
    const bool is_there = shown.find(" " + name + ",") != std::string::npos;
    EXPECT_NE(is_said, is_there) << name << ": " << traced.errors << shown;
  }
}

TEST_F(TraceCountersTest, WithoutAnyThatCanBeMeasuredTimeIsRecorded) {
  const ProcessResult traced = Trace(kHardware, {kVictims + "faults", "10", "10"});
  EXPECT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(Cli({"tree", "show", file()}).output, HasSubstr("cpu of 1 run: "));
  const ProcessResult shown = Cli({"tree", "show", file(), "--metric", "faults"});
  EXPECT_THAT(shown.errors, HasSubstr("faults was not measured; available: cpu, "));
}

TEST_F(TraceCountersTest, OfAProcessThatRunsTheyAreCountedFromThenOn) {
  testing::BackgroundProcess python({.arguments = {"python3", "-c",
                                                   "print('ready', flush=True)\n"
                                                   "import mmap\nwhile True:\n"
                                                   "  new = mmap.mmap(-1, 1 << 20)\n"
                                                   "  new.madvise(mmap.MADV_NOHUGEPAGE)\n"
                                                   "  new.write(b'x' * (1 << 20))\n"
                                                   "  new.close()"},
                                     .environment = {},
                                     .unset = {},
                                     .directory = {},
                                     .input = {}});
  ASSERT_TRUE(python.WaitForLine("ready"));
  const ProcessResult traced = Cli({"trace", "-o", file(), "--counters", "faults", "--for", "1s",
                                    "-p", std::to_string(python.pid())});
  ASSERT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_EQ(Cli({"tree", "verify", file()}).exit_status, 0);
  std::uint64_t sampled = 0;
  for (const auto& [function, count] : Faults()) {
    if (function != "[unsampled]") sampled += count;
  }
  EXPECT_GT(sampled, 0U);
  EXPECT_EQ(sampled % static_cast<std::uint64_t>(kPeriod), 0U);
}

TEST_F(TraceCountersTest, ComparesProgramsByCountersAndReportsMissingOnesOnce) {
  const ProcessResult compared =
      Cli({"tree", "compare", "--runs", "6", "--counters", "cycles,faults", "--metric", "faults",
           "--", kVictims + "faults", "2500", "10", "--", kVictims + "faults", "10", "2500"});
  EXPECT_EQ(compared.exit_status, 1) << compared.errors;
  EXPECT_THAT(compared.output, HasSubstr("faults_thread"));
  const std::size_t first = compared.errors.find("cycles: not measured");
  if (first == std::string::npos) return;  // this machine has hardware counters
  EXPECT_EQ(compared.errors.find("cycles: not measured", first + 1), std::string::npos)
      << compared.errors;
}

TEST_F(TraceCountersTest, RefusesUnknownCounters) {
  for (const std::string wrong : {"", "cycle", "cycles,", "page-faults", "faults cycles"}) {
    const ProcessResult refused = Trace(wrong, {"/bin/true"});
    EXPECT_EQ(refused.exit_status, kUsage) << wrong;
    EXPECT_THAT(refused.output, IsEmpty());
    EXPECT_THAT(refused.errors, HasSubstr("--counters")) << wrong;
  }
}

}  // namespace
}  // namespace fieldcost::cli
