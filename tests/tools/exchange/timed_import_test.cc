// Times and threads of imported files: each becomes a recording, too.

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "common/recording/recording.h"
#include "common/recording/recording_limits.h"
#include "common/recording/verify_recording.h"
#include "tests/tools/exchange/read_as.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::exchange {
namespace {

using recording::Interval;
using recording::Recording;
using recording::Thread;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Recording RecordingOf(const Imported& imported) {
  EXPECT_TRUE(imported.recording.has_value());
  const std::string& bytes = imported.recording.value();
  EXPECT_TRUE(recording::Verify(bytes).value().is_good());
  return Recording::Of(bytes).value();
}

tree::Tree TreeIn(const Recording& recording, Interval interval) {
  const tree::RunValues values = recording.Values(interval).value();
  return tree::TreeOf(recording.contents().dictionary, recording.contents().descriptions.metrics,
                      {&values, 1})
      .value();
}

std::vector<std::string> LinesIn(const Recording& recording, std::uint64_t from_ns,
                                 std::uint64_t to_ns) {
  return LinesOf(TreeIn(recording, {from_ns, to_ns}));
}

std::vector<Thread> ThreadsOf(const Recording& recording) {
  const std::vector<Thread>& all = recording.contents().descriptions.threads;
  return {all.begin() + 1, all.end()};
}

constexpr char kEvents[] =
    "1000 7 enter app!main\n"
    "1100 7 enter z!inflate\n"
    "1150 main-loop enter app!worker\n"
    "1400 7 exit z!inflate\n"
    "1600 7 exit app!main\n"
    "1850 main-loop exit\n";

TEST(TimedImportTest, CallsAreDividedWhereAnIntervalBeginsAndEnds) {
  const Imported imported = ReadAs(kEvents, Format::kEvents);
  const Recording recording = RecordingOf(imported);
  EXPECT_THAT(ThreadsOf(recording),
              ElementsAre(Thread{.tid = 7}, Thread{.pid = 0, .tid = 0, .name = "main-loop"}));
  EXPECT_EQ(LinesIn(recording, 0, UINT64_MAX), LinesOf(imported.tree));
  EXPECT_THAT(LinesIn(recording, 0, 1), ElementsAre("app!main calls=1 wall=1"));
  EXPECT_THAT(LinesIn(recording, 0, 50), ElementsAre("app!main calls=1 wall=50"));
  EXPECT_THAT(LinesIn(recording, 99, 151),
              ElementsAre("app!main wall=1", "app!main;z!inflate calls=1 wall=51",
                          "app!worker calls=1 wall=1"));
  EXPECT_THAT(LinesIn(recording, 599, 850), ElementsAre("app!main wall=1", "app!worker wall=251"));
  EXPECT_THAT(LinesIn(recording, 850, 9'000), IsEmpty());
  ASSERT_EQ(recording.contents().descriptions.runs.size(), 1U);
  EXPECT_EQ(recording.contents().descriptions.runs[0].end_ns, 851U);
}

std::string RandomEvents(std::mt19937_64& random) {
  std::string text;
  std::map<std::uint64_t, std::size_t> depths;
  std::uint64_t ns = 5'000'000'000;
  for (int i = 0; i < 3'000; ++i) {
    ns += random() % (i % 50 == 0 ? 1'700'000'000 : 900'000);
    const std::uint64_t thread = random() % 5;
    std::size_t& depth = depths[thread];
    text += std::to_string(ns) + " " + std::to_string(thread);
    if (depth == 0 || (depth < 9 && random() % 2 == 0)) {
      text += " enter f" + std::to_string(random() % 6) + "\n";
      ++depth;
    } else {
      text += " exit\n";
      --depth;
    }
  }
  return text;
}

using Sums = std::vector<std::vector<std::uint64_t>>;  // [stream][path]

Sums SumsIn(const Recording& recording, Interval interval) {
  Sums sums;
  for (std::uint16_t i = 0; i < recording.contents().streams.size(); ++i) {
    sums.emplace_back();
    EXPECT_TRUE(recording.SelfValues(recording::StreamId(i), 0, interval, sums.back()).has_value());
  }
  return sums;
}

// Equal bit for bit, wherever a recording is cut.
TEST(TimedImportTest, PartsAddUpToTheWhole) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    const Imported imported = ReadAs(RandomEvents(random), Format::kEvents);
    const Recording recording = RecordingOf(imported);
    EXPECT_EQ(LinesIn(recording, 0, UINT64_MAX), LinesOf(imported.tree));
    const std::uint64_t end_ns = recording.contents().descriptions.runs[0].end_ns;
    const Sums whole = SumsIn(recording, {});
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<std::uint64_t> edges = {0, UINT64_MAX};
      for (int i = 0; i < 10; ++i) edges.push_back(random() % end_ns);
      std::ranges::sort(edges);
      Sums sums(whole.size(), std::vector<std::uint64_t>(whole[0].size()));
      for (std::size_t i = 1; i < edges.size(); ++i) {
        const Sums part = SumsIn(recording, {edges[i - 1], edges[i]});
        std::uint64_t wall = 0;
        for (std::size_t stream = 0; stream < whole.size(); ++stream) {
          for (std::size_t path = 0; path < whole[0].size(); ++path) {
            sums[stream][path] += part[stream][path];
            if (stream == 0) wall += part[stream][path];
          }
        }
        // No thread has more time than has passed.
        if (i + 1 < edges.size()) {
          EXPECT_LE(wall, 5 * (edges[i] - edges[i - 1]));
        }
      }
      ASSERT_EQ(sums, whole);
    }
  }
}

TEST(TimedImportTest, ACallOfMinutesIsInEachSecond) {
  const Imported imported = ReadAs("0 1 enter a\n123456789012 1 exit a\n", Format::kEvents);
  const Recording recording = RecordingOf(imported);
  EXPECT_THAT(LinesIn(recording, 60'000'000'000, 60'000'000'007), ElementsAre("a wall=7"));
  EXPECT_THAT(LinesIn(recording, 0, UINT64_MAX), ElementsAre("a calls=1 wall=123456789012"));
}

// A hostile file of a few lines must not become a recording of hundreds of megabytes.
TEST(TimedImportTest, RecordingOfLongCallsIsInProportionToTheFile) {
  const auto file = [](std::uint64_t calls, std::uint64_t seconds) {
    std::string text;
    for (std::uint64_t call = 0; call < calls; ++call) {
      text += std::to_string(call * seconds) + "000000000 1 enter a\n";
      text += std::to_string((call + 1) * seconds) + "000000000 1 exit a\n";
    }
    return text;
  };
  const Imported day = ReadAs(file(1, 65'536), Format::kEvents);
  ASSERT_TRUE(day.recording.has_value());
  EXPECT_LT(day.recording->size(), 16U << 20U);
  const Imported week = ReadAs(file(1, 7 * 86'400), Format::kEvents);
  EXPECT_FALSE(week.recording.has_value());
  EXPECT_THAT(week.untrusted_remarks, Contains(HasSubstr("times and threads are left out")));
  EXPECT_THAT(LinesOf(week.tree), ElementsAre("a calls=1 wall=604800000000000"));
  EXPECT_TRUE(ReadAs(file(2'000, 300), Format::kEvents).recording.has_value());
}

TEST(TimedImportTest, TimesThatNoRecordingHoldsAreLeftOut) {
  const Imported imported = ReadAs("0 1 enter a\n9999999999999999999 1 exit a\n", Format::kEvents);
  EXPECT_FALSE(imported.recording.has_value());
  EXPECT_THAT(imported.untrusted_remarks, Contains(HasSubstr("times and threads are left out")));
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("a calls=1 wall=9999999999999999999"));
  EXPECT_FALSE(ReadAs("", Format::kFolded).recording.has_value());
}

TEST(TimedImportTest, SamplesOfPerfHaveTheirTimeThreadAndPeriod) {
  const Imported imported = ReadAs(
      "worker thread 100/102 [001] 40155.000002:  20 task-clock: \n"
      "\t 1151 g+0x18 (/usr/bin/victim)\n"
      "\n"
      "victim 100/100 [000] 40155.000001500:  10 task-clock: \n"
      "\t 1151 f+0x18 (/usr/bin/victim)\n"
      "\n"
      "sh 200 40156.5:  30 task-clock: \n"
      "\t 1151 f+0x18 (/usr/bin/victim)\n",
      Format::kPerfScript);
  const Recording recording = RecordingOf(imported);
  EXPECT_THAT(ThreadsOf(recording),
              ElementsAre(Thread{100, 102, "victim", "worker thread"},
                          Thread{100, 100, "victim", "victim"}, Thread{0, 200, "sh", "sh"}));
  EXPECT_EQ(LinesIn(recording, 0, UINT64_MAX), LinesOf(imported.tree));
  EXPECT_THAT(LinesIn(recording, 0, 500), ElementsAre("victim!f task-clock=10"));
  EXPECT_THAT(LinesIn(recording, 500, 501), ElementsAre("victim!g task-clock=20"));
  EXPECT_THAT(LinesIn(recording, 501, 1'499'999'000), ElementsAre("victim!f task-clock=30"));
  std::vector<std::uint32_t> threads;
  ASSERT_TRUE(recording
                  .ForEachThreadSample(recording::StreamId(0), {},
                                       [&](auto, auto, recording::ThreadId thread, auto) {
                                         threads.push_back(thread.value());
                                       })
                  .has_value());
  EXPECT_THAT(threads, ElementsAre(2, 1, 3));
}

TEST(TimedImportTest, EventsOfChromeHaveTheNamesOfTheirThreads) {
  const Imported imported = ReadAs(
      R"([{"ph":"X","ts":1,"dur":3,"pid":5,"tid":6,"name":"a"},
          {"ph":"X","ts":2,"dur":1,"pid":5,"tid":6,"name":"b"},
          {"ph":"B","ts":2,"pid":5,"tid":7,"name":"c"},
          {"ph":"E","ts":2.5,"pid":5,"tid":7},
          {"ph":"B","ts":9,"pid":"net","tid":"io","name":"d"},
          {"ph":"E","ts":9.001,"pid":"net","tid":"io"},
          {"ph":"M","name":"process_name","pid":5,"args":{"name":"browser"}},
          {"ph":"M","name":"thread_name","pid":5,"tid":7,"args":{"name":"compositor"}}])",
      Format::kChrome);
  const Recording recording = RecordingOf(imported);
  EXPECT_THAT(ThreadsOf(recording),
              ::testing::UnorderedElementsAre(Thread{5, 6, "browser", ""},
                                              Thread{5, 7, "browser", "compositor"},
                                              Thread{0, 0, "net", "io"}));
  EXPECT_EQ(LinesIn(recording, 0, UINT64_MAX), LinesOf(imported.tree));
  // a's self time lies before and after b.
  EXPECT_THAT(LinesIn(recording, 0, 1'001),
              ElementsAre("a calls=1 wall=1000", "a;b calls=1 wall=1", "c calls=1 wall=1"));
  EXPECT_THAT(LinesIn(recording, 1'999, 8'001),
              ElementsAre("a wall=1000", "a;b wall=1", "d calls=1 wall=1"));
}

TEST(TimedImportTest, ProfilesOfSpeedscopeThatAreEventsAreThreads) {
  const std::string head =
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json",
          "shared":{"frames":[{"name":"f"}]},"profiles":[)";
  const std::string evented =
      R"({"type":"evented","name":"main","unit":"microseconds","startValue":0,"endValue":5,
          "events":[{"type":"O","frame":0,"at":1},{"type":"C","frame":0,"at":5}]})";
  const Recording recording = RecordingOf(ReadAs(head + evented + "]}", Format::kSpeedscope));
  EXPECT_THAT(ThreadsOf(recording), ElementsAre(Thread{0, 0, "", "main"}));
  EXPECT_THAT(LinesIn(recording, 0, 7), ElementsAre("f calls=1 wall=7"));
  const std::string sampled =
      R"({"type":"sampled","name":"x","unit":"microseconds","startValue":0,"endValue":5,
          "samples":[[0]],"weights":[3]})";
  EXPECT_FALSE(
      ReadAs(head + evented + "," + sampled + "]}", Format::kSpeedscope).recording.has_value());
}

// Paths exported to Chrome's format follow one another, regardless of their times.
TEST(TimedImportTest, OwnExportsHaveNoTimes) {
  const Imported imported = ReadAs(kEvents, Format::kEvents);
  for (const Format format : {Format::kChrome, Format::kSpeedscope, Format::kPprof}) {
    const std::string bytes = Export(imported.tree, format).value().bytes;
    EXPECT_FALSE(ReadAs(bytes, format).recording.has_value()) << InfoOf(format).name;
  }
}

}  // namespace
}  // namespace fieldcost::exchange
