#include "tests/agent/probe_preload/probe_fixture.h"

// fieldcost_probe.py with and without a recorder.

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class PythonTest : public ProbeTest {
 protected:
  static testing::ProcessResult Run(const std::string& mode, Variables variables) {
    const std::string source = FIELDCOST_SOURCE_DIR;
    variables.emplace_back("PYTHONPATH", source + "/agent/probe_preload/python");
    variables.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
    return testing::RunProcess(
        {.arguments = {"/usr/bin/python3", source + "/tests/agent/probe_preload/probed.py", mode},
         .environment = variables});
  }
  SeenRun Probed(const std::string& mode) {
    const auto said = Run(mode, Prepared(Nothing()));
    EXPECT_EQ(said.output, "done True\n") << said.errors;
    std::vector<SeenRun> runs = Runs();
    EXPECT_THAT(runs, SizeIs(1));
    return runs.size() == 1 ? std::move(runs[0]) : SeenRun{};
  }
  // Each job's labels and values, which are equal for all jobs.
  static void ExpectJobs(const SeenRun& run, std::size_t count) {
    std::map<std::uint64_t, std::vector<std::uint64_t>> values;
    std::size_t jobs = 0;
    for (const SeenHit& seen : run.hits) {
      if (seen.site.label == "job") ++jobs;
      if (seen.hit.value) values[seen.hit.event.number].push_back(*seen.hit.value);
    }
    EXPECT_EQ(jobs, count);
    EXPECT_THAT(values, SizeIs(count));
    for (const auto& [event, its_values] : values) {
      EXPECT_THAT(its_values, ElementsAre(its_values[0], its_values[0]));
      EXPECT_NE(event, 0U);
      EXPECT_THAT(run.LabelsOf({run.facts.run, event}),
                  ElementsAre("job", "first", "second", "end"));
    }
  }
};

TEST_F(PythonTest, EventsNest) {
  const SeenRun run = Probed("nested");
  EXPECT_THAT(run.LabelsOf({run.facts.run, 0}),
              ElementsAre("process", "of the process", "after its end"));
  EXPECT_THAT(run.LabelsOf({run.facts.run, 1}), ElementsAre("outer", "in outer", "end"));
  EXPECT_THAT(run.LabelsOf({run.facts.run, 2}), ElementsAre("inner", "in inner", "end"));
  EXPECT_THAT(run.ValuesOf("in inner"), ElementsAre(7));
  EXPECT_THAT(run.Find("in inner")->site.file, ::testing::EndsWith("probed.py"));
  EXPECT_EQ(run.Find("in inner")->site.function, "nested");
}

TEST_F(PythonTest, ThreadsAreNotMixed) { ExpectJobs(Probed("threads"), 160); }

TEST_F(PythonTest, TasksOfOneThreadAreNotMixed) {
  const SeenRun run = Probed("tasks");
  ExpectJobs(run, 20);
  EXPECT_EQ(run.Find("outside")->hit.event.number, 0U);
}

TEST_F(PythonTest, AnEventIsJoinedByItsTraceparent) {
  const SeenRun run = Probed("joins");
  EXPECT_THAT(run.LabelsOf({run.facts.run, 1}), ElementsAre("request", "end", "join", "joined"));
  EXPECT_EQ(run.Find("not joined")->hit.event.number, 0U);
}

TEST_F(PythonTest, OddLabelsAndValuesRaiseNothing) {
  const SeenRun run = Probed("odd");
  EXPECT_EQ(run.ValuesOf("value").size(), 6U);
  EXPECT_EQ(run.Find("17")->hit.event.number, 0U);
}

TEST_F(PythonTest, DoesNothingWithoutAReader) {
  for (const std::string mode : {"nested", "threads", "tasks", "joins", "odd"}) {
    const auto said = Run(mode, {});
    EXPECT_EQ(said.output, "done False\n") << said.errors;
    // The library without a plan.
    const auto inert = Run(mode, {{"LD_PRELOAD", kProbeLibrary}});
    EXPECT_EQ(inert.output, "done False\n") << inert.errors;
  }
}

}  // namespace
}  // namespace fieldcost::probe
