#include <algorithm>

#include "tests/agent/probe_preload/probe_fixture.h"

// Points placed by a plan before and after functions.

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class NamedPointsTest : public ProbeTest {
 protected:
  const std::string kNamed = kVictims + "probe_named";

  PlanOptions With(const std::string& toml) const {
    PlanOptions options = Nothing();
    auto points = ParsePoints(toml + "\n[automatic]\nstart = false\n", "probe.toml");
    EXPECT_TRUE(points) << points.error().message;
    if (points) options.points.named = points->named;
    return options;
  }
};

TEST_F(NamedPointsTest, ArgumentsAreSeenOnEntryAndResultsAfterTheReturn) {
  const SeenRun run = OnlyRun({kNamed, "calls"}, With(R"(
[[point]]
label = "first"
at = "libprobe_named.so*!named_add"
value = "arg1"
[[point]]
label = "second"
at = "libprobe_named.so*!named_add"
value = "arg2"
[[point]]
label = "sum"
at = "*!named_add"
when = "return"
value = "result"
[[point]]
label = "both"
at = "*!named_real"
when = "both"
)"));
  EXPECT_THAT(run.Labels(), ElementsAre("process", "first", "second", "sum", "both", "both"));
  EXPECT_THAT(run.ValuesOf("first"), ElementsAre(20));
  EXPECT_THAT(run.ValuesOf("second"), ElementsAre(22));
  EXPECT_THAT(run.ValuesOf("sum"), ElementsAre(42));
  EXPECT_TRUE(run.hits[1].hit.entered);
  EXPECT_TRUE(run.hits[3].hit.returned);
  EXPECT_TRUE(run.hits[4].hit.entered);
  EXPECT_TRUE(run.hits[5].hit.returned);
  EXPECT_EQ(run.hits[1].site.function, "libprobe_named.so.1!named_add");
  EXPECT_EQ(run.hits[1].site.kind, shm::kProbeNamed);
}

TEST_F(NamedPointsTest, AnEventBeginsAtOneFunctionAndEndsAtAnother) {
  const SeenRun run = OnlyRun({kNamed, "event"}, With(R"(
[[point]]
event = "job"
at = "*!named_begin"
begins = true
value = "arg1"
[[point]]
label = "step"
event = "job"
at = "*!named_step"
[[point]]
label = "done"
event = "job"
at = "*!named_end"
when = "return"
ends = true
)"));
  const std::uint64_t id = run.facts.run;
  std::vector<std::uint64_t> events;
  for (const SeenHit& seen : run.hits) {
    if (seen.hit.kind == shm::kProbeBegin && seen.hit.event.number != 0) {
      events.push_back(seen.hit.event.number);
      EXPECT_EQ(seen.site.label, "job");
    }
  }
  ASSERT_THAT(events, SizeIs(3));
  for (const std::uint64_t event : events) {
    // The step belongs to another thread, which has another ring.
    EXPECT_THAT(run.LabelsOf({id, event}), ElementsAre("job", "done", "step"));
  }
  EXPECT_THAT(run.LabelsOf({id, 0}), ElementsAre("process", "step", "step", "step"));
  EXPECT_THAT(run.ValuesOf("job"), ElementsAre(0, 1, 2));
}

TEST_F(NamedPointsTest, OneFunctionMayBeAWholeEvent) {
  const SeenRun run = OnlyRun({kNamed, "calls"}, With(R"(
[[point]]
label = "added"
event = "adding"
at = "*!named_add"
when = "both"
begins = true
ends = true
)"));
  EXPECT_THAT(run.Labels(), ElementsAre("process", "adding", "added", "added"));
  EXPECT_EQ(run.hits[1].hit.kind, shm::kProbeBegin);
  EXPECT_EQ(run.hits[2].hit.kind, shm::kProbePoint);
  EXPECT_EQ(run.hits[3].hit.kind, shm::kProbeEnd);
  EXPECT_EQ(run.hits[3].hit.event.number, run.hits[1].hit.event.number);
}

TEST_F(NamedPointsTest, AStackBeginsAtTheCaller) {
  const SeenRun run = OnlyRun({kNamed, "calls"}, With(R"(
[[point]]
label = "added"
at = "*!named_add"
when = "both"
stack = true
)"));
  ASSERT_THAT(run.hits, SizeIs(3));
  ASSERT_TRUE(run.hits[1].registers && run.hits[2].registers);
  EXPECT_EQ(run.hits[1].registers->sp, run.hits[2].registers->sp);
  EXPECT_EQ(run.hits[1].registers->ip, run.hits[2].registers->ip);
  EXPECT_EQ(run.hits[1].registers->bx, run.hits[2].registers->bx);
  EXPECT_EQ(run.CountIn("victims/probe_named", {run.hits[1].registers->ip}), 1U);
  EXPECT_GE(run.CountIn("libc.so.6", run.hits[1].stack), 1U);
}

TEST_F(NamedPointsTest, CallsThatAreLeftByJumpsAndExceptionsEndWithoutAReturn) {
  const SeenRun run = OnlyRun({kNamed, "left"}, With(R"(
[[point]]
label = "called"
at = "*!named_callback"
when = "both"
[[point]]
label = "sum"
at = "*!named_add"
when = "return"
value = "result"
)"));
  const std::vector<std::string> labels = run.Labels();
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "called"), 2000);
  EXPECT_EQ(run.facts.lost_hits, 0U);
  EXPECT_THAT(run.ValuesOf("sum"), ElementsAre(3));
}

TEST_F(NamedPointsTest, AChildOfForkMayLoadALibraryBeforeItsFirstPoint) {
  const std::vector<SeenRun> runs =
      Probed({kNamed, "child loads", kVictims + "libvictim_plugin.so"}, With(R"(
[[point]]
label = "base"
at = "*!plugin_base"
)"));
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_TRUE(runs[1].Find("base"));
  EXPECT_EQ(runs[0].facts.placed[0], 0U);
  EXPECT_EQ(runs[1].facts.placed[0], 1U);
}

TEST_F(NamedPointsTest, EveryFunctionOfLibcMayHaveOne) {
  const PlanOptions options = With(R"(
[[point]]
label = "libc"
at = "libc.so.6!*"
when = "both"
stack = true
)");
  for (const auto& command : std::vector<std::vector<std::string>>{
           {kNamed, "calls"},
           {"/usr/bin/python3", "-c", "import threading,json; print(json.dumps([1]))"},
           {"ls", "/"},
           {kVictims + "probe_editor"}}) {
    const auto plain = testing::RunProcess({.arguments = command});
    const auto probed =
        testing::RunProcess({.arguments = command, .environment = Prepared(options)});
    EXPECT_EQ(probed.output, plain.output);
    EXPECT_EQ(probed.exit_status, plain.exit_status);
  }
}

}  // namespace
}  // namespace fieldcost::probe
