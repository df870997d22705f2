#include "common/recording/by_thread.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "common/recording/verify_recording.h"
#include "common/tree/tree_limits.h"
#include "tests/common/recording/samples.h"

namespace fieldcost::recording {
namespace {

struct ThreadSample {
  std::uint64_t time_ns = 0;
  std::uint32_t path = 0;
  std::uint64_t value = 0;
  std::uint32_t thread = 0;
};

std::string FirstFrame(const Recording& recording, std::uint32_t path) {
  const tree::Dictionary& dictionary = recording.dictionary();
  while (dictionary.paths.depth(tree::PathId(path)) > 1) path = dictionary.paths.parents()[path];
  return dictionary.frame(tree::PathId(path)).function;
}

// Sums of self values by first frame.
std::map<std::string, std::uint64_t> ByFirstFrame(const Recording& recording, Interval interval) {
  std::map<std::string, std::uint64_t> sums;
  const std::vector<std::uint64_t> self = Self(recording, 0, interval);
  for (std::uint32_t path = 1; path < self.size(); ++path) {
    if (self[path] != 0) sums[FirstFrame(recording, path)] += self[path];
  }
  return sums;
}

// The frames of a path without the first one.
std::vector<tree::Frame> FramesBehindFirst(const Recording& recording, std::uint32_t path) {
  const tree::Dictionary& dictionary = recording.dictionary();
  std::vector<tree::Frame> frames;
  for (; dictionary.paths.depth(tree::PathId(path)) > 1; path = dictionary.paths.parents()[path]) {
    frames.push_back(dictionary.frame(tree::PathId(path)));
  }
  return frames;
}

class ByThreadTest : public ::testing::Test {
 protected:
  Recording Written(const std::vector<Thread>& threads, const std::vector<ThreadSample>& samples,
                    std::size_t runs = 0) {
    Writer writer = Writer::InMemory(dictionary_, {.created_ns = 7});
    const auto metrics = AddMetrics(1, writer);
    const StreamId stream = writer.AddStream({StreamKind::kSamples, "s", metrics}).value();
    std::vector<ThreadId> ids = {kNoThread};
    for (const Thread& thread : threads) ids.push_back(writer.AddThread(thread).value());
    for (std::size_t run = 0; run < runs; ++run) EXPECT_TRUE(writer.BeginRun(run, "x", ""));
    for (const ThreadSample& sample : samples) {
      EXPECT_TRUE(writer.Append(stream, sample.time_ns, tree::PathId(sample.path),
                                {&sample.value, 1}, ids[sample.thread]));
    }
    return Recording::Of(writer.TakeBytes().value()).value();
  }

  tree::Dictionary dictionary_;
};

TEST_F(ByThreadTest, SumsOfThreadsAddUpBitForBitInEveryInterval) {
  std::mt19937_64 random(11);
  GrowTo(300, random, dictionary_);
  const std::vector<Thread> threads = {
      {1, 1, "app", "app"}, {1, 2, "app", "worker"}, {1, 3, "app", "worker"}, {9, 9, "sh", "sh"}};
  std::vector<ThreadSample> samples;
  std::uint64_t time_ns = 0;
  for (int i = 0; i < 50'000; ++i) {
    time_ns += random() % 300'000;
    samples.push_back({time_ns, SkewedPath(300, random), random() % 1'000,
                       static_cast<std::uint32_t>(random() % 5)});
  }
  const Recording whole = Written(threads, samples);
  for (const DivideBy by : {DivideBy::kThread, DivideBy::kProcess}) {
    const Recording divided = DividedByThread(whole, by, false).value();
    for (int query = 0; query < 100; ++query) {
      const std::uint64_t from_ns = random() % time_ns;
      const Interval interval{from_ns,
                              from_ns + random() % (time_ns / (query % 2 == 0 ? 2 : 1'000))};
      std::map<std::string, std::uint64_t> expected;
      for (const ThreadSample& sample : samples) {
        if (sample.time_ns < interval.from_ns || sample.time_ns >= interval.to_ns) continue;
        const std::string several =
            by == DivideBy::kThread ? "[several threads]" : "[several processes]";
        const std::string name =
            sample.thread == 0 ? several
            : by == DivideBy::kThread
                ? std::vector<std::string>{"[thread app 1]", "[thread app/worker 2]",
                                           "[thread app/worker 3]",
                                           "[thread sh 9]"}[sample.thread - 1]
            : sample.thread == 4 ? "[process sh 9]"
                                 : "[process app 1]";
        if (sample.value != 0) expected[name] += sample.value;
      }
      ASSERT_EQ(ByFirstFrame(divided, interval), expected);
      // The same for each path.
      const std::vector<std::uint64_t> self = Self(divided, 0, interval);
      std::map<std::vector<tree::Frame>, std::uint64_t> of_paths;
      for (std::uint32_t path = 1; path < self.size(); ++path) {
        of_paths[FramesBehindFirst(divided, path)] += self[path];
      }
      const std::vector<std::uint64_t> undivided = Self(whole, 0, interval);
      for (std::uint32_t path = 0; path < undivided.size(); ++path) {
        std::vector<tree::Frame> frames;
        for (std::uint32_t at = path; at != 0; at = dictionary_.paths.parents()[at]) {
          frames.push_back(dictionary_.frame(tree::PathId(at)));
        }
        const auto found = of_paths.find(frames);
        ASSERT_EQ(found == of_paths.end() ? 0 : found->second, undivided[path]);
      }
    }
  }
}

TEST_F(ByThreadTest, KeepsAllElse) {
  std::mt19937_64 random(3);
  GrowTo(30, random, dictionary_);
  const Recording whole =
      Written({{1, 1, "p", "p"}}, {{10, 3, 5, 1}, {20, 4, 6, 0}, {20, 29, 7, 1}}, 2);
  const Recording divided = DividedByThread(whole, DivideBy::kThread, false).value();
  EXPECT_EQ(divided.contents().anchors, whole.contents().anchors);
  EXPECT_EQ(divided.contents().descriptions, whole.contents().descriptions);
  EXPECT_EQ(divided.Span(), whole.Span());
  std::vector<std::uint32_t> threads;
  ASSERT_TRUE(divided.ForEachThreadSample(StreamId(0), {}, [&](auto, auto, ThreadId thread, auto) {
    threads.push_back(thread.value());
  }));
  EXPECT_EQ(threads, (std::vector<std::uint32_t>{1, 0, 1}));
}

TEST_F(ByThreadTest, ThreadsOfSeveralRunsAreKnownByTheirNames) {
  const std::vector<Thread> threads = {{1, 1, "p", "w"}, {2, 2, "p", "w"}, {2, 3, "", ""}};
  const std::vector<ThreadSample> samples = {{1, 0, 5, 1}, {2, 0, 6, 2}, {3, 0, 7, 3}};
  using Sums = std::map<std::string, std::uint64_t>;
  const Sums by_name = {{"[thread p/w]", 11}, {"[thread without a name]", 7}};
  const auto sums = [&](std::size_t runs, bool wanted) {
    const Recording whole = Written(threads, samples, runs);
    return ByFirstFrame(DividedByThread(whole, DivideBy::kThread, wanted).value(), {});
  };
  EXPECT_EQ(sums(2, false), by_name);
  EXPECT_EQ(sums(1, true), by_name);
  EXPECT_EQ(sums(1, false),
            (Sums{{"[thread p/w 1]", 5}, {"[thread p/w 2]", 6}, {"[thread 3]", 7}}));
}

TEST_F(ByThreadTest, ManyThreadsAreOneForEachName) {
  std::vector<Thread> threads;
  std::vector<ThreadSample> samples;
  for (std::uint32_t i = 0; i < kMostNumberedThreads; ++i) {
    threads.push_back({i + 1, i + 1, "cc", "cc"});
    samples.push_back({i, 0, 1, i + 1});
  }
  // All of them, and the samples of several threads.
  const auto divided = [&] {
    return ByFirstFrame(
        DividedByThread(Written(threads, samples), DivideBy::kProcess, false).value(), {});
  };
  EXPECT_EQ(divided().size(), 1U);
  EXPECT_EQ(divided().at("[process cc]"), kMostNumberedThreads);
  threads.pop_back();
  samples.pop_back();
  EXPECT_EQ(divided().size(), kMostNumberedThreads - 1);
}

TEST_F(ByThreadTest, NamesBeyondTheLimitAreOne) {
  std::vector<Thread> threads;
  std::vector<ThreadSample> samples;
  for (std::uint32_t i = 0; i < kMostThreadNames + 5; ++i) {
    threads.push_back({1, i + 1, "p", "w" + std::to_string(i)});
    samples.push_back({i, 0, 1, i + 1});
  }
  const auto sums = ByFirstFrame(
      DividedByThread(Written(threads, samples), DivideBy::kThread, false).value(), {});
  EXPECT_EQ(sums.size(), kMostThreadNames + 1);
  EXPECT_EQ(sums.at("[other threads]"), 5U);
}

TEST_F(ByThreadTest, FramesNameWhatTheirThreadsHaveInCommon) {
  const std::vector<Thread> threads = {
      {1, 1, "app", "app"}, {1, 2, "app", "io"}, {7, 2, "app", "io"}, {9, 9, "sh", "sh"}};
  const Recording one = Written(threads, {}, 1);
  EXPECT_EQ(ThreadFramesOf(one, DivideBy::kThread, false),
            (std::vector<ThreadFrame>{{"[several threads]", {}},
                                      {"[thread app 1]", {1, 1, "app", "app"}},
                                      {"[thread app/io 2]", {0, 2, "app", "io"}},
                                      {"[thread sh 9]", {9, 9, "sh", "sh"}}}));
  EXPECT_EQ(ThreadFramesOf(one, DivideBy::kProcess, false),
            (std::vector<ThreadFrame>{{"[several processes]", {}},
                                      {"[process app 1]", {1, 0, "app", ""}},
                                      {"[process app 7]", {7, 0, "app", ""}},
                                      {"[process sh 9]", {9, 0, "sh", ""}}}));
  const std::vector<ThreadFrame> by_name = {{"[several threads]", {}},
                                            {"[thread app]", {0, 0, "app", "app"}},
                                            {"[thread app/io]", {0, 0, "app", "io"}},
                                            {"[thread sh]", {0, 0, "sh", "sh"}}};
  EXPECT_EQ(ThreadFramesOf(one, DivideBy::kThread, true), by_name);
  EXPECT_EQ(ThreadFramesOf(Written(threads, {}, 2), DivideBy::kThread, false), by_name);
  EXPECT_TRUE(ThreadFramesOf(Written({}, {}), DivideBy::kThread, false).empty());
}

TEST_F(ByThreadTest, APathAtTheGreatestDepthIsFoldedIntoItsCaller) {
  tree::PathId path = tree::kRootPath;
  for (std::size_t i = 0; i < tree::kMaxDepth; ++i) {
    tree::Frame frame{.module = "m"};
    frame.function = "f" + std::to_string(i);
    path = dictionary_.paths.Intern(path, dictionary_.frames.Intern(frame).value()).value();
  }
  const Recording whole = Written({{1, 1, "p", "p"}}, {{1, path.value(), 5, 1}});
  const Recording divided = DividedByThread(whole, DivideBy::kThread, false).value();
  EXPECT_EQ(ByFirstFrame(divided, {}).at("[thread p 1]"), 5U);
}

TEST_F(ByThreadTest, ARecordingWithoutThreadsIsRefused) {
  const auto divided = DividedByThread(Written({}, {{1, 0, 5, 0}}), DivideBy::kProcess, false);
  ASSERT_FALSE(divided);
  EXPECT_EQ(divided.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(divided.error().message, "it names no threads: it cannot be divided by process");
}

}  // namespace
}  // namespace fieldcost::recording
