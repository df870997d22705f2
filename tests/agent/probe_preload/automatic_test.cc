#include <algorithm>

#include "tests/agent/probe_preload/probe_fixture.h"

// Automatic points: they belong to the process's event, in the order in which things happen.

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AutomaticPointsTest : public ProbeTest {
 protected:
  const std::string kNamed = kVictims + "probe_named";
};

TEST_F(AutomaticPointsTest, AProcessBeginsLoadsRunsMainPrintsAndExits) {
  const SeenRun run = OnlyRun({kProbed, "prints"}, Everything());
  EXPECT_THAT(run.LabelsOf({run.facts.run, 0}),
              ElementsAre("process", "loaded", "main", "before", "first output", "exit"));
  EXPECT_EQ(run.Find("process")->hit.kind, shm::kProbeBegin);
  EXPECT_EQ(run.Find("exit")->hit.kind, shm::kProbeEnd);
  EXPECT_EQ(run.Find("main")->site.kind, shm::kProbeAutomaticSite);
  EXPECT_EQ(run.Find("main")->site.automatic, shm::kProbeMain);
  for (std::size_t i = 1; i < run.hits.size(); ++i) {
    EXPECT_LT(run.hits[i - 1].hit.ticks, run.hits[i].hit.ticks);
  }
}

TEST_F(AutomaticPointsTest, EachIsTakenOnlyIfThePlanWantsIt) {
  const std::vector<std::pair<std::uint32_t, std::string>> points = {
      {shm::kProbeLoaded, "loaded"},
      {shm::kProbeMain, "main"},
      {shm::kProbeFirstOutput, "first output"},
      {shm::kProbeDlopen, "dlopen"},
      {shm::kProbeExit, "exit"}};
  for (const auto& [bit, label] : points) {
    PlanOptions options = Nothing();
    options.points.automatic = bit;
    testing::RunProcess({.arguments = {kNamed, "loads"}, .environment = Prepared(options)});
    const std::vector<SeenRun> runs = Runs();
    EXPECT_THAT(runs.back().Labels(), ElementsAre("process", label));
  }
}

TEST_F(AutomaticPointsTest, TheBeginningIsTheStartersClockForItsChildAndElseTheKernels) {
  PlanOptions options = Everything();
  options.start_unix_ns = 0;
  const SeenRun by_kernel = OnlyRun({kProbed, "scopes"}, options);
  // To 10 ms, the resolution of the kernel's count.
  EXPECT_LE(by_kernel.facts.process_start_unix_ns, by_kernel.facts.start_unix_ns);
  options.starter = ::getpid();
  options.start_unix_ns = by_kernel.facts.start_unix_ns;  // certainly before the next start
  testing::RunProcess({.arguments = {kProbed, "scopes"}, .environment = Prepared(options)});
  const std::vector<SeenRun> runs = Runs();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[1].facts.process_start_unix_ns, options.start_unix_ns);
  const std::uint64_t began = runs[1].facts.UnixNs(runs[1].Find("process")->hit.ticks);
  EXPECT_NEAR(static_cast<double>(began), static_cast<double>(options.start_unix_ns), 2000);
}

TEST_F(AutomaticPointsTest, ExitIsSeenHoweverAProgramEnds) {
  for (const char* const mode : {"calls", "_exit"}) {
    testing::RunProcess({.arguments = {kNamed, mode}, .environment = Prepared(Everything())});
    const std::vector<SeenRun> runs = Runs();
    EXPECT_EQ(runs.back().Labels().back(), "exit") << mode;
    EXPECT_TRUE(runs.back().facts.ended);
  }
  // There is no exit point if the process is ended by a signal.
  testing::RunProcess({.arguments = {kNamed, "throws"}, .environment = Prepared(Everything())});
  const std::vector<SeenRun> runs = Runs();
  EXPECT_EQ(runs.back().Find("exit"), nullptr);
  EXPECT_FALSE(runs.back().facts.ended);
}

TEST_F(AutomaticPointsTest, FirstOutputIsOnceHoweverItIsWritten) {
  const std::vector<std::vector<std::string>> commands = {
      {kNamed, "write"},
      {kNamed, "calls"},
      {"/usr/bin/python3", "-c", "print('one'); print('two')"},
      {"bash", "-c", "echo one; echo two"},
      {"/bin/echo", "one"},
      {"cat", "/proc/self/comm"},
      {"ls", "/"},
  };
  for (const auto& command : commands) {
    testing::RunProcess({.arguments = command, .environment = Prepared(Everything())});
    const std::vector<SeenRun> runs = Runs();
    const std::vector<std::string> labels = runs.back().Labels();
    EXPECT_EQ(std::count(labels.begin(), labels.end(), "first output"), 1) << command[0];
    EXPECT_EQ(std::count(labels.begin(), labels.end(), "main"), 1) << command[0];
    EXPECT_EQ(std::count(labels.begin(), labels.end(), "exit"), 1) << command[0];
  }
}

TEST_F(AutomaticPointsTest, ProgramsBehaveAsWithoutUs) {
  PlanOptions options = Everything();
  options.stacks = true;
  const std::vector<std::vector<std::string>> commands = {
      {kNamed, "calls"},
      {kNamed, "throws"},
      {kProbed, "sandbox"},
      {"/usr/bin/python3", "-c",
       "import subprocess,sys; sys.exit(subprocess.call(['sh','-c','exit 5']))"},
      {"bash", "-c", "for i in 1 2 3; do (echo $i | tr 1 2); done; exec ls /"},
      {"perl", "-e", "fork; print qq(x\\n); wait"},
      {kVictims + "hosts", "exceptions"},
  };
  for (const auto& command : commands) Probed(command, options);
}

}  // namespace
}  // namespace fieldcost::probe
