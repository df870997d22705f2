#include <algorithm>
#include <set>

#include "tests/agent/probe_preload/probe_fixture.h"

// Points in the source code: their event and their order; losses are always reported.

namespace fieldcost::probe {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ProbeEventsTest : public ProbeTest {};

using Key = std::pair<std::uint64_t, std::uint64_t>;
Key KeyOf(const RingHit& hit) { return {hit.event.run, hit.event.number}; }

// In each thread, sequences start at 1 without gaps, and times never decrease.
void ExpectWholeSequences(const SeenRun& run) {
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> last;
  for (const SeenHit& seen : run.hits) {
    auto& [sequence, ticks] = last[seen.hit.thread];
    EXPECT_EQ(seen.hit.sequence, sequence + 1);
    EXPECT_GE(seen.hit.ticks, ticks);
    sequence = seen.hit.sequence;
    ticks = seen.hit.ticks;
  }
}

TEST_F(ProbeEventsTest, InterleavedEventsOfManyThreadsAreNeverMixed) {
  const SeenRun run = OnlyRun({kProbed, "threads", "64", "1000"}, Nothing());
  EXPECT_EQ(run.facts.dropped + run.facts.lost_hits + run.facts.interrupted, 0U);
  ExpectWholeSequences(run);
  std::map<Key, std::vector<std::uint64_t>> values;
  std::map<Key, std::vector<std::string>> labels;
  for (const SeenHit& seen : run.hits) {
    if (seen.hit.event.number == 0) continue;
    labels[KeyOf(seen.hit)].push_back(seen.site.label);
    if (seen.hit.value) values[KeyOf(seen.hit)].push_back(*seen.hit.value);
  }
  ASSERT_EQ(labels.size(), 64U * 1000U);
  std::set<std::uint64_t> names;
  for (const auto& [event, its_values] : values) {
    EXPECT_THAT(its_values, Each(its_values.front()));
    names.insert(its_values.front());
  }
  EXPECT_EQ(names.size(), 64U * 1000U);
  std::size_t last_of_thread = 0;
  for (const auto& [event, its_labels] : labels) {
    EXPECT_EQ(its_labels.front(), "interleaved");
    EXPECT_EQ(its_labels.back(), "end");
    if (its_labels.size() == 4) ++last_of_thread;
  }
  EXPECT_EQ(last_of_thread, 64U);  // a thread's last event has no second point
}

TEST_F(ProbeEventsTest, PointsBelongToTheInnermostEventElseToTheProcess) {
  const SeenRun run = OnlyRun({kProbed, "scopes"}, Nothing());
  EXPECT_THAT(run.LabelsOf({run.facts.run, 0}), ElementsAre("process", "in the process"));
  EXPECT_THAT(run.LabelsOf({run.facts.run, 1}),
              ElementsAre("outer", "in outer", "in outer again", "end"));
  EXPECT_THAT(run.LabelsOf({run.facts.run, 2}), ElementsAre("inner", "in inner", "end"));
  EXPECT_EQ(run.Find("outer")->hit.kind, shm::kProbeBegin);
  EXPECT_EQ(run.Find("end")->hit.kind, shm::kProbeEnd);
  EXPECT_EQ(run.Find("in inner")->hit.kind, shm::kProbePoint);
}

TEST_F(ProbeEventsTest, AnEventMayEndOnAnotherThread) {
  const SeenRun run = OnlyRun({kProbed, "handed_over"}, Nothing());
  EXPECT_THAT(run.LabelsOf({run.facts.run, 1}), ElementsAre("handed over", "elsewhere", "end"));
  EXPECT_THAT(run.LabelsOf({run.facts.run, 0}), ElementsAre("process", "of no event"));
  EXPECT_NE(run.Find("elsewhere")->hit.thread, run.Find("handed over")->hit.thread);
}

TEST_F(ProbeEventsTest, ASiteNamesItsLocation) {
  const SeenRun run = OnlyRun({kProbed, "sites"}, Nothing());
  EXPECT_THAT(run.Labels(), ElementsAre("process", "same", "same", "loop", "loop"));
  EXPECT_NE(run.hits[1].hit.site, run.hits[2].hit.site);
  EXPECT_EQ(run.hits[3].hit.site, run.hits[4].hit.site);
  const RingSite& site = run.hits[1].site;
  EXPECT_THAT(site.file, ::testing::EndsWith("tests/victims/probed.cc"));
  EXPECT_EQ(site.function, "sites");
  EXPECT_EQ(run.hits[2].site.line, site.line + 1);
  EXPECT_EQ(site.kind, shm::kProbeSource);
}

TEST_F(ProbeEventsTest, RingsOfThreadsThatEndedAreTakenOver) {
  const SeenRun run = OnlyRun({kProbed, "one_by_one", "200"}, Nothing());
  EXPECT_EQ(run.facts.lost_hits, 0U);
  std::vector<std::uint64_t> values = run.ValuesOf("thread");
  std::sort(values.begin(), values.end());
  ASSERT_THAT(values, SizeIs(200));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i);
  for (const SeenHit& seen : run.hits) {
    if (seen.site.label == "thread") {
      EXPECT_EQ(seen.hit.sequence, 1U);
    }
  }
}

TEST_F(ProbeEventsTest, ThreadsBeyondTheRingsAreCountedAndTheirEventsAreIncomplete) {
  const SeenRun run = OnlyRun({kProbed, "threads", "70", "10"}, Nothing());
  // Ten events with five hits each, minus the second point of the last one.
  EXPECT_EQ(run.facts.lost_hits, 6U * 49U);
  EXPECT_TRUE(run.facts.all_incomplete);
  EXPECT_LE(run.facts.open_from_ticks, run.facts.open_until_ticks);
  EXPECT_THAT(run.facts.incomplete, SizeIs(shm::kProbeIncomplete));
  EXPECT_EQ(run.ValuesOf("first").size(), 64U * 10U);
}

// A second of 200,000 points, without any reader.
TEST_F(ProbeEventsTest, ABurstOfASecondIsKeptThoughNothingIsRead) {
  for (const bool stacks : {false, true}) {
    PlanOptions options = Nothing();
    options.stacks = stacks;
    SCOPED_TRACE(stacks);
    std::filesystem::remove_all(directory_.path());
    std::filesystem::create_directory(directory_.path());
    const SeenRun run = OnlyRun({kProbed, "many", "200000"}, options);
    const std::vector<std::uint64_t> values = run.ValuesOf("one");
    ASSERT_EQ(values.size(), 200'000U);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i);
    EXPECT_EQ(run.facts.dropped, 0U);
    EXPECT_TRUE(run.facts.incomplete.empty());
  }
}

TEST_F(ProbeEventsTest, FullRingDropsAndCountsWithoutBlocking) {
  const SeenRun run = OnlyRun({kProbed, "many", "300000"}, Nothing());
  const std::vector<std::uint64_t> values = run.ValuesOf("one");
  // The beginnings of the process's event and of the program's own event are stored, too.
  ASSERT_EQ(values.size(),
            (shm::kProbeRingBytes + shm::kProbeAreaBytes) / sizeof(shm::ProbeRecord) - 2);
  EXPECT_EQ(values.back(), values.size() - 1);
  EXPECT_EQ(run.facts.dropped, 300000 - values.size() + 1);  // and the event's end
  ASSERT_THAT(run.facts.incomplete, SizeIs(1));
  EXPECT_EQ(run.facts.incomplete[0].run, run.facts.run);
  EXPECT_EQ(run.facts.incomplete[0].number, 1U);
  EXPECT_FALSE(run.facts.all_incomplete);
}

TEST_F(ProbeEventsTest, StacksAreShorterOnceARingIsHalfFull) {
  PlanOptions options = Nothing();
  options.stacks = true;
  const SeenRun run = OnlyRun({kProbed, "many", "4000"}, options);
  EXPECT_EQ(run.facts.dropped, 0U);
  std::size_t full = 0;
  std::size_t less = 0;
  std::size_t none = 0;
  for (const SeenHit& seen : run.hits) {
    if (seen.site.label != "one") continue;
    const std::size_t bytes = seen.stack.size() * 8;
    if (!seen.registers) {
      ++none;
    } else if (bytes > shm::kProbeShortStackBytes) {
      ++full;
      EXPECT_EQ(less + none, 0U);
    } else {
      ++less;
      EXPECT_EQ(none, 0U);
    }
    EXPECT_EQ(seen.hit.stack_is_short, less + none != 0);
    if (seen.registers) {
      EXPECT_EQ(seen.registers->sp % 8, 0U);
    }
  }
  EXPECT_GT(full, 200U);
  EXPECT_GT(less, 300U);
  EXPECT_GT(none, 1000U);
}

// For each of the functions by which points are passed: each obtains the registers in its own way.
TEST_F(ProbeEventsTest, AStackBelongsToTheThreadThatPassedThePoint) {
  PlanOptions options = Nothing();
  options.stacks = true;
  SeenRun run = OnlyRun({kProbed, "scopes"}, options);
  const SeenRun threads = Probed({kProbed, "one_by_one", "1"}, options).back();
  ASSERT_NE(threads.Find("thread"), nullptr);
  run.hits.push_back(*threads.Find("thread"));
  const std::size_t of_threads = run.hits.size() - 1;
  for (std::size_t i = 0; i < run.hits.size(); ++i) {
    const SeenHit& seen = run.hits[i];
    if (seen.site.kind != shm::kProbeSource) continue;
    ASSERT_TRUE(seen.registers) << seen.site.label;
    const SeenRun& its_run = i == of_threads ? threads : run;
    EXPECT_EQ(its_run.CountIn("victims/probed", {seen.registers->ip}), 1U) << seen.site.label;
    // Contains return addresses into its caller and into the program's start.
    const char* const caller = i == of_threads ? "libstdc++.so.6" : "victims/probed";
    EXPECT_GE(its_run.CountIn(caller, seen.stack), 1U) << seen.site.label;
    EXPECT_GE(its_run.CountIn("libc.so.6", seen.stack), 1U) << seen.site.label;
  }
}

TEST_F(ProbeEventsTest, ErrnoIsKept) {
  PlanOptions options = Everything();
  options.stacks = true;
  OnlyRun({kProbed, "keeps_errno"}, options);  // compares its output with and without the library
  const auto said = testing::RunProcess(
      {.arguments = {kProbed, "keeps_errno"}, .environment = Prepared(options)});
  EXPECT_EQ(said.output, "42 43\n");
}

TEST_F(ProbeEventsTest, HitsThatInterruptHitsAreCountedAndNothingIsTorn) {
  const auto said =
      testing::RunProcess({.arguments = {kProbed, "signals"}, .environment = Prepared(Nothing())});
  ASSERT_EQ(said.exit_status, 0);
  std::istringstream words(said.output);
  std::uint64_t in_main = 0;
  std::uint64_t in_handler = 0;
  words >> in_main >> in_handler;
  const std::vector<SeenRun> runs = Runs();
  ASSERT_THAT(runs, SizeIs(1));
  const SeenRun& run = runs[0];
  // Each hit was stored, found a full ring, or interrupted another that was being written.
  const auto kept = static_cast<std::uint64_t>(
      std::count_if(run.hits.begin(), run.hits.end(),
                    [](const SeenHit& seen) { return seen.site.kind == shm::kProbeSource; }));
  EXPECT_EQ(kept + run.facts.dropped + run.facts.interrupted, in_main + in_handler);
  EXPECT_GT(run.facts.interrupted, 0U);
  EXPECT_THAT(run.facts.incomplete, SizeIs(1));
  std::uint64_t last = 0;
  for (const SeenHit& seen : run.hits)
    EXPECT_GT(seen.hit.sequence, std::exchange(last, seen.hit.sequence));
}

TEST_F(ProbeEventsTest, SitesThatAreMadeAreThere) {
  const auto said = testing::RunProcess(
      {.arguments = {kProbed, "makes_sites", "3000"}, .environment = Prepared(Nothing())});
  EXPECT_EQ(said.exit_status, 0);
  const std::vector<SeenRun> runs = Runs();
  ASSERT_THAT(runs, SizeIs(1));
  const std::vector<std::string> labels = runs[0].Labels();
  const auto made = std::count(labels.begin(), labels.end(), "made");
  EXPECT_EQ(said.output, std::to_string(made) + "\n");
  EXPECT_GT(made, 2000);
  EXPECT_EQ(runs[0].Find("made")->site.file, "a.py");
  EXPECT_EQ(runs[0].Find("made")->site.function, "f");
}

}  // namespace
}  // namespace fieldcost::probe
