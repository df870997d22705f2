// Threads of exported trees as the formats represent them, and as they are imported again.

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "common/base/text.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording_writer.h"
#include "tests/tools/exchange/read_as.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::exchange {
namespace {

using recording::DivideBy;
using recording::Recording;
using recording::Thread;
using recording::ThreadFrame;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Format kWithThreads[] = {Format::kPprof, Format::kSpeedscope, Format::kChrome};

const std::vector<Thread> kThreads = {{7, 7, "app", "app"},
                                      {7, 8, "app", "io \"x\""},
                                      {9, 9, "sh\xff", "sh\xc3"},
                                      {9, 8, "sh\xff", ""}};

tree::Tree TreeIn(const Recording& recording) {
  const tree::RunValues values = recording.Values({}).value();
  return tree::TreeOf(recording.contents().dictionary, recording.contents().descriptions.metrics,
                      {&values, 1})
      .value();
}

// Samples with the threads of kThreads, and without a thread, on shared paths; three metrics.
Recording Recorded(std::uint64_t seed, std::size_t samples) {
  std::mt19937_64 random(seed);
  tree::Dictionary dictionary;
  std::vector<tree::PathId> paths = {tree::kRootPath};
  for (int i = 0; i < 60; ++i) {
    const tree::FrameId frame =
        dictionary.frames.Intern(Function("app!f" + std::to_string(random() % 9))).value();
    paths.push_back(dictionary.paths.Intern(paths[random() % paths.size()], frame).value());
  }
  recording::Writer writer = recording::Writer::InMemory(dictionary, {});
  const auto wall = writer.AddMetric({.name = "wall"}).value();
  const auto calls = writer.AddMetric({.name = "calls", .unit = tree::Unit::kCount}).value();
  const auto cpu = writer.AddMetric({.name = "cpu", .per_sample = 1'003'009}).value();
  const auto stream = writer.AddStream({.name = "all", .metrics = {wall, calls, cpu}}).value();
  std::vector<recording::ThreadId> threads = {recording::kNoThread};
  for (const Thread& thread : kThreads) threads.push_back(writer.AddThread(thread).value());
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t thread = random() % threads.size();
    const std::uint64_t values[] = {random() >> 20, random() % 3, thread == 2 ? 0 : random() % 99};
    EXPECT_TRUE(writer.Append(stream, i, paths[random() % paths.size()], values, threads[thread]));
  }
  return Recording::Of(writer.TakeBytes().value()).value();
}

Exported ExportedBy(const Recording& recording, DivideBy by, Format format) {
  const Recording divided = recording::DividedByThread(recording, by, false).value();
  return Export(TreeIn(divided), format,
                {.title = "a.fct", .threads = ThreadFramesOf(recording, by, false)})
      .value();
}

// Sums by first frame and metric, including costs without a further path.
std::map<std::string, std::uint64_t> SumsBy(DivideBy by, const Recording& recording) {
  const Recording divided = recording::DividedByThread(recording, by, false).value();
  const tree::Tree tree = TreeIn(divided);
  const tree::PathTable& paths = tree.paths();
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    for (std::uint32_t path = 1; path < paths.size(); ++path) {
      std::uint32_t first = path;
      while (paths.parents()[first] != 0) first = paths.parents()[first];
      sums[tree.dictionary->frame(tree::PathId(first)).function + " " +
           tree.metrics[metric].name] +=
          static_cast<std::uint64_t>(tree.values[metric].self[path].sum);
    }
  }
  return sums;
}

TEST(ThreadsTest, SumsOfThreadsAreReadAgainBitForBit) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Recording recording = Recorded(seed, 2'000);
    const auto by_thread = SumsBy(DivideBy::kThread, recording);
    ASSERT_EQ(by_thread.size(), 15U);
    EXPECT_NE(by_thread.at("[thread app/io \"x\" 8] wall"), 0U);
    EXPECT_NE(by_thread.at("[several threads] wall"), 0U);
    for (const Format format : kWithThreads) {
      const Imported read = ReadAs(ExportedBy(recording, DivideBy::kThread, format).bytes, format);
      ASSERT_TRUE(read.recording.has_value()) << InfoOf(format).name;
      const Recording again = Recording::Of(*read.recording).value();
      EXPECT_EQ(SumsBy(DivideBy::kThread, again), by_thread) << InfoOf(format).name;
      EXPECT_EQ(SumsBy(DivideBy::kProcess, again), SumsBy(DivideBy::kProcess, recording));
    }
  }
}

TEST(ThreadsTest, SumsOfProcessesAreReadAgainBitForBit) {
  const Recording recording = Recorded(4, 500);
  for (const Format format : kWithThreads) {
    const Imported read = ReadAs(ExportedBy(recording, DivideBy::kProcess, format).bytes, format);
    EXPECT_EQ(SumsBy(DivideBy::kProcess, Recording::Of(read.recording.value()).value()),
              SumsBy(DivideBy::kProcess, recording))
        << InfoOf(format).name;
  }
}

// Without pathless costs and metrics whose costs are all zero, the tree is unchanged.
TEST(ThreadsTest, PathsAreThoseOfTheWhole) {
  const Recording recording = Recorded(5, 500);
  for (const Format format : {Format::kPprof, Format::kSpeedscope}) {
    const Imported read = ReadAs(ExportedBy(recording, DivideBy::kThread, format).bytes, format);
    EXPECT_EQ(LinesOf(read.tree), LinesOf(TreeIn(recording))) << InfoOf(format).name;
    EXPECT_EQ(LinesOf(TreeIn(Recording::Of(read.recording.value()).value())), LinesOf(read.tree));
  }
}

TEST(ThreadsTest, WithoutThreadsThereIsNoRecording) {
  const tree::Tree tree = TreeIn(Recorded(6, 100));
  for (const Format format : kWithThreads) {
    EXPECT_FALSE(ReadAs(Export(tree, format).value().bytes, format).recording.has_value());
  }
}

TEST(ThreadsTest, CountsSamplesWithoutTime) {
  const Imported read =
      ReadAs(ExportedBy(Recorded(7, 9), DivideBy::kThread, Format::kPprof).bytes, Format::kPprof);
  const Recording recording = Recording::Of(read.recording.value()).value();
  const std::vector<recording::Count>& counts = recording.contents().descriptions.counts;
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].name, recording::kSamplesWithoutTime);
  EXPECT_NE(counts[0].value, 0U);
}

tree::Tree Small() {
  return TreeOfStacks(
      {{.name = "wall"}, {.name = "calls", .unit = tree::Unit::kCount}},
      {{{tree::SpecialFrame("[thread app 7]"), Function("app!main")}, {1'000, 1}},
       {{tree::SpecialFrame("[thread app/io 8]"), Function("app!main"), Function("read")},
        {2'500, 0}},
       {{tree::SpecialFrame("[several threads]")}, {40, 0}}});
}

std::string Written(Format format) {
  return Export(Small(), format,
                {.title = "a",
                 .threads = {{"[several threads]", {}},
                             {"[thread app 7]", {7, 7, "app", "app"}},
                             {"[thread app/io 8]", {7, 8, "app", "io"}}}})
      .value()
      .bytes;
}

TEST(ThreadsTest, SpeedscopeHasAProfileAThreadAndMetric) {
  EXPECT_THAT(Written(Format::kSpeedscope), HasSubstr(R"("activeProfileIndex":1,
"shared":{"frames":[{"name":"[several threads]"},{"name":"[thread app 7]"},{"name":"app!main"},{"name":"[thread app/io 8]"},{"name":"read"}]},
"profiles":[
{"type":"sampled","name":"[several threads] calls count exact","metric":"calls count exact","thread":{"process":"","pid":0,"name":"","tid":0},"unit":"none","startValue":0,"endValue":0,
"samples":[],
"weights":[]},
{"type":"sampled","name":"[several threads] wall ns exact","metric":"wall ns exact","thread":{"process":"","pid":0,"name":"","tid":0},"unit":"nanoseconds","startValue":0,"endValue":40,
"samples":[[]],
"weights":[40]},
{"type":"sampled","name":"[thread app 7] calls count exact","metric":"calls count exact","thread":{"process":"app","pid":7,"name":"app","tid":7},"unit":"none","startValue":0,"endValue":1,
"samples":[[2]],
"weights":[1]},
{"type":"sampled","name":"[thread app 7] wall ns exact","metric":"wall ns exact","thread":{"process":"app","pid":7,"name":"app","tid":7},"unit":"nanoseconds","startValue":0,"endValue":1000,
"samples":[[2]],
"weights":[1000]},
{"type":"sampled","name":"[thread app/io 8] wall ns exact","metric":"wall ns exact","thread":{"process":"app","pid":7,"name":"io","tid":8},"unit":"nanoseconds","startValue":0,"endValue":2500,
"samples":[[2,4]],
"weights":[2500]}]}
)"));
}

TEST(ThreadsTest, ChromeHasNumbersAndNamesOfProcessesAndThreads) {
  const std::string json = Written(Format::kChrome);
  EXPECT_THAT(
      json,
      HasSubstr(
          R"({"name":"process_name","ph":"M","pid":7,"tid":7,"args":{"name":"app 7: wall ns exact","metric":"wall ns exact","process":"app","pid":7}},
{"name":"thread_name","ph":"M","pid":7,"tid":7,"args":{"name":"[thread app 7]","thread":"app","tid":7}},
{"name":"app!main","ph":"X","ts":0.000,"dur":1.000,"pid":7,"tid":7},
{"name":"thread_name","ph":"M","pid":7,"tid":8,"args":{"name":"[thread app/io 8]","thread":"io","tid":8}},
{"name":"app!main","ph":"X","ts":0.000,"dur":2.500,"pid":7,"tid":8},
{"name":"read","ph":"X","ts":0.000,"dur":2.500,"pid":7,"tid":8}
]})"));
  // Calls have a process with a different id.
  EXPECT_THAT(json, HasSubstr(R"("args":{"name":"app 7: calls count exact")"));
}

TEST(ThreadsTest, FirefoxHasAThreadAThreadAndMetricWithoutItsFrame) {
  const std::string json = Written(Format::kFirefox);
  // Frames: [several threads], [thread app 7], main, [thread app/io 8], read. Stacks: roots are the
  // threads' second frames.
  EXPECT_THAT(json, HasSubstr("\"stackTable\":{\"frame\":[0,1,2,3,2,4],\n"
                              "\"prefix\":[null,null,null,null,null,4],"));
  for (
      const char* thread :
      {R"("name":"[thread app 7] wall ns exact","processName":"app: wall ns exact","isMainThread":true,"pid":"7","tid":"7",
"samples":{"stack":[2],
"timeDeltas":[0],
"weight":[0.001000],)",
       R"("name":"[thread app/io 8] wall ns exact","processName":"app: wall ns exact","isMainThread":false,"pid":"7","tid":"8",
"samples":{"stack":[5],
"timeDeltas":[0],
"weight":[0.002500],)",
       R"("name":"[several threads] wall ns exact","processName":"fieldcost: wall ns exact","isMainThread":false,"pid":"fieldcost","tid":"[several threads]",
"samples":{"stack":[null],
"timeDeltas":[0],
"weight":[0.000040],)",
       R"("name":"[thread app 7] calls count exact","processName":"app: calls count exact","isMainThread":true,"pid":"7.1","tid":"7",
"samples":{"stack":[2],)"}) {
    EXPECT_THAT(json, HasSubstr(thread));
  }
  EXPECT_THAT(json, ::testing::Not(HasSubstr("[thread app/io 8] calls"))) << "it made none";
}

TEST(ThreadsTest, FoldedStacksBeginWithThreads) {
  EXPECT_EQ(
      Written(Format::kFolded),
      "[several threads] 40\n[thread app 7];app!main 1000\n[thread app/io 8];app!main;read 2500\n");
}

TEST(ThreadsTest, PprofHasLabelsAndTheFrames) {
  const PprofContent content = DecodePprof(Written(Format::kPprof)).value();
  std::vector<std::string> samples;
  for (const PprofSample& sample : content.samples) {
    std::string line;
    for (const std::uint32_t frame : sample.frames) line += content.functions[frame].name + ";";
    if (sample.thread != 0) {
      const PprofThread& thread = content.threads[sample.thread - 1];
      line += fmt::format(" {} {} {} {}", thread.process, thread.pid, thread.name, thread.tid);
    }
    samples.push_back(line);
  }
  EXPECT_THAT(samples, ElementsAre("[several threads];", "[thread app 7];main; app 7 app 7",
                                   "[thread app/io 8];main;read; app 7 io 8"));
}

// A process that executes another program, and an id that is reused.
TEST(ThreadsTest, DistinguishesThreadsWithEqualNumbers) {
  const std::vector<ThreadFrame> threads = {{"[thread sh 7]", {7, 7, "sh", "sh"}},
                                            {"[thread gzip 7]", {7, 7, "gzip", "gzip"}},
                                            {"[thread gzip/io 7]", {7, 7, "gzip", "io"}}};
  std::vector<SampleStack> stacks;
  for (std::uint64_t i = 0; i < threads.size(); ++i) {
    stacks.push_back({{tree::SpecialFrame(threads[i].label), Function("main")}, {i + 1}});
  }
  const tree::Tree tree = TreeOfStacks({{.name = "wall"}}, stacks);
  for (const Format format : kWithThreads) {
    const Imported read = ReadAs(Export(tree, format, {.threads = threads}).value().bytes, format);
    const Recording recording = Recording::Of(read.recording.value()).value();
    EXPECT_THAT(LinesOf(TreeIn(DividedByThread(recording, DivideBy::kThread, false).value())),
                ElementsAre("[thread gzip 7];main wall=2", "[thread gzip/io 7];main wall=3",
                            "[thread sh 7];main wall=1"))
        << InfoOf(format).name;
  }
}

// Other programs label samples, too; a first frame is then an ordinary frame.
TEST(ThreadsTest, LabelsOfOthersAreThreads) {
  const std::string bytes = EncodePprof({.types = {{"cpu", "nanoseconds"}},
                                         .functions = {{.module = "", .name = "[kernel]"}},
                                         .samples = {{{0}, {5}, 1}, {{0}, {6}}},
                                         .threads = {{"", "worker", 0, 12}},
                                         .comments = {}})
                                .value();
  const Recording recording =
      Recording::Of(ReadAs(bytes, Format::kPprof).recording.value()).value();
  EXPECT_THAT(LinesOf(TreeIn(DividedByThread(recording, DivideBy::kThread, false).value())),
              ElementsAre("[several threads];[kernel] cpu=6", "[thread worker 12];[kernel] cpu=5"));
}

}  // namespace
}  // namespace fieldcost::exchange
