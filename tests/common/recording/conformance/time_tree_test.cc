#include "common/recording/conformance/time_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tests/common/recording/samples.h"

namespace fieldcost::recording {
namespace {

using PathCounts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
using Visit = TimeTree::Visit;

// The worked example: M 100, N 2, P 95 over [0, 1000). Paths are letters.
class WorkedExampleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Add({0, 250}, "A32 B18 C10 E6 D11 F13");
    Add({250, 375}, "A16 B10 C10 E5 D4");
    Add({375, 500}, "A24 B16 C15 E10 D5");
    Add({250, 500}, "F1");
    Add({0, 500}, "G10");
    Add({500, 1000}, "A41 B31 C11 D5 E3 F5 G3 H9 I6");
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    tree_.emplace(TimeTree::Build(samples_, {0, 1'000}, {.m = 100, .n = 2, .p = 95}).value());
  }

  // Adds samples evenly spread over the interval.
  void Add(Interval interval, const std::string& counts) {
    for (const auto& [path, count] : Parse(counts)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t length = interval.to_ns - interval.from_ns;
        samples_.push_back({interval.from_ns + i * length / count, path});
      }
    }
  }

  static PathCounts Parse(const std::string& text) {
    PathCounts counts;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find(' ', at);
      if (end == std::string::npos) end = text.size();
      counts.emplace_back(text[at] - 'A', std::stoul(text.substr(at + 1, end - at - 1)));
      at = end + 1;
    }
    return counts;
  }

  void ExpectNode(std::size_t number, Interval interval, std::uint64_t samples,
                  const std::string& kept, std::uint64_t other) const {
    const TimeTree::Node& node = tree_->nodes()[number];
    EXPECT_EQ(node.interval, interval);
    EXPECT_EQ(node.samples, samples);
    EXPECT_EQ(node.is_leaf, kept.empty());
    EXPECT_EQ(node.kept, Parse(kept));
    EXPECT_EQ(node.other, other);
    EXPECT_EQ(node.leaf.size(), node.is_leaf ? samples : 0);
  }

  PathCounts Truth(Interval interval) const {
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const TimedPath& sample : samples_) {
      if (sample.time_ns >= interval.from_ns && sample.time_ns < interval.to_ns) {
        ++counts[sample.path];
      }
    }
    return {counts.begin(), counts.end()};
  }

  std::vector<TimedPath> samples_;
  std::optional<TimeTree> tree_;
};

TEST_F(WorkedExampleTest, NodeForNode) {
  ASSERT_EQ(samples_.size(), 330U);
  EXPECT_EQ(Truth({0, 1'000}), Parse("A113 B75 C46 D25 E24 F19 G13 H9 I6"));
  EXPECT_EQ(Truth({0, 500}), Parse("A72 B44 C35 D20 E21 F14 G10"));
  EXPECT_EQ(Truth({250, 500}).size(), 7U);
  ASSERT_EQ(tree_->nodes().size(), 7U);
  ExpectNode(0, {0, 1'000}, 330, "A113 B75 C46 D25 E24 F19 G13", 15);
  ExpectNode(1, {0, 500}, 216, "A72 B44 C35 E21 D20 F14", 10);
  ExpectNode(2, {0, 250}, 90, "", 0);
  ExpectNode(3, {250, 500}, 116, "A40 B26 C25 E15 D9", 1);
  ExpectNode(4, {250, 375}, 45, "", 0);
  ExpectNode(5, {375, 500}, 70, "", 0);
  ExpectNode(6, {500, 1'000}, 99, "", 0);
}

TEST_F(WorkedExampleTest, TheEndIsAPartOfALeaf) {
  const TimeTree::Answer answer = tree_->Count({700, 1'000});
  EXPECT_EQ(answer.visits,
            (std::vector<std::pair<std::size_t, Visit>>{
                {0, Visit::kDescended}, {1, Visit::kSkipped}, {6, Visit::kScanned}}));
  PathCounts expected = Truth({700, 1'000});
  std::erase_if(expected, [](const auto& one) { return one.first > 'G' - 'A'; });
  EXPECT_EQ(answer.counts, expected);
  EXPECT_EQ(answer.uncertainty, 13U);  // of the 15 others, no path has more than G's 13
}

TEST_F(WorkedExampleTest, TheFirstHalfIsMergedAsItWasKept) {
  const TimeTree::Answer answer = tree_->Count({0, 700});
  EXPECT_EQ(answer.visits, (std::vector<std::pair<std::size_t, Visit>>{
                               {0, Visit::kDescended}, {1, Visit::kMerged}, {6, Visit::kScanned}}));
  std::map<std::uint32_t, std::uint64_t> expected;
  for (const auto& [path, count] : Parse("A72 B44 C35 E21 D20 F14")) expected[path] += count;
  for (const auto& [path, count] : Truth({500, 700})) {
    if (path <= 'G' - 'A') expected[path] += count;
  }
  EXPECT_EQ(answer.counts, PathCounts(expected.begin(), expected.end()));
  EXPECT_EQ(answer.uncertainty, 13U + 10U);
}

TEST_F(WorkedExampleTest, FromTheMiddleOfALeafToTheMiddleOfAnother) {
  const TimeTree::Answer answer = tree_->Count({300, 700});
  EXPECT_EQ(answer.visits, (std::vector<std::pair<std::size_t, Visit>>{{0, Visit::kDescended},
                                                                       {1, Visit::kDescended},
                                                                       {2, Visit::kSkipped},
                                                                       {3, Visit::kDescended},
                                                                       {4, Visit::kScanned},
                                                                       {5, Visit::kMerged},
                                                                       {6, Visit::kScanned}}));
  std::map<std::uint32_t, std::uint64_t> expected;
  for (const auto& [path, count] : Truth({300, 500})) {
    if (path <= 'E' - 'A') expected[path] += count;
  }
  for (const auto& [path, count] : Truth({500, 700})) {
    if (path <= 'G' - 'A') expected[path] += count;
  }
  EXPECT_EQ(answer.counts, PathCounts(expected.begin(), expected.end()));
  EXPECT_EQ(answer.uncertainty, 13U + 10U + 1U);
}

TEST(TimeTreeTest, TheTrueCountLiesInTheBoundInTenThousandQueries) {
  std::mt19937_64 random(9);
  std::uint64_t uncertain = 0;
  for (int i = 0; i < 20; ++i) {
    const std::size_t paths = 1 + random() % 300;
    std::vector<TimedPath> samples;
    std::uint64_t time_ns = 0;
    for (int sample = 0; sample < 3'000; ++sample) {
      // The frequent paths change over time.
      const auto path = SkewedPath(paths, random) + static_cast<std::uint32_t>(time_ns / 5'000);
      samples.push_back({time_ns += random() % 10, path});
    }
    const TimeTreeOptions options{
        .m = 1 + random() % 300, .n = 2 + random() % 9, .p = 40 + random() % 61};
    const Interval span{0, time_ns + 1};
    const TimeTree tree = TimeTree::Build(samples, span, options).value();
    for (int query = 0; query < 500; ++query) {
      Interval interval{random() % time_ns, random() % time_ns};
      if (interval.from_ns > interval.to_ns) std::swap(interval.from_ns, interval.to_ns);
      const TimeTree::Answer answer = tree.Count(interval);
      std::map<std::uint32_t, std::uint64_t> truth;
      for (const TimedPath& sample : samples) {
        if (sample.time_ns >= interval.from_ns && sample.time_ns < interval.to_ns) {
          ++truth[sample.path];
        }
      }
      std::map<std::uint32_t, std::uint64_t> told(answer.counts.begin(), answer.counts.end());
      for (const auto& [path, count] : told) ASSERT_LE(count, truth[path]);
      for (const auto& [path, count] : truth) {
        ASSERT_LE(count, told[path] + answer.uncertainty);
        uncertain += count > told[path] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(uncertain, 10'000U);  // otherwise nothing was tested
}

TEST(TimeTreeTest, AllPathsKeptIsExact) {
  std::mt19937_64 random(10);
  std::vector<TimedPath> samples;
  for (std::uint64_t i = 0; i < 5'000; ++i) samples.push_back({i, SkewedPath(50, random)});
  const TimeTree tree = TimeTree::Build(samples, {0, 5'000}, {.m = 10, .n = 3, .p = 100}).value();
  const TimeTree::Answer answer = tree.Count({100, 4'321});
  EXPECT_EQ(answer.uncertainty, 0U);
  std::uint64_t total = 0;
  for (const auto& [path, count] : answer.counts) total += count;
  EXPECT_EQ(total, 4'221U);
}

TEST(TimeTreeTest, SamplesOfOneMomentAreALeafHoweverMany) {
  const std::vector<TimedPath> samples(10'000, {7, 1});
  const TimeTree tree = TimeTree::Build(samples, {0, 1'000}, {.m = 10}).value();
  EXPECT_EQ(tree.Count({7, 8}).counts, (PathCounts{{1, 10'000}}));
  EXPECT_TRUE(tree.Count({8, 1'000}).counts.empty());
}

TEST(TimeTreeTest, OptionsAndSamplesOutOfRangeAreRefused) {
  for (const TimeTreeOptions& options :
       {TimeTreeOptions{.m = 0}, TimeTreeOptions{.n = 1}, TimeTreeOptions{.n = 1'025},
        TimeTreeOptions{.p = 0}, TimeTreeOptions{.p = 101}}) {
    EXPECT_EQ(TimeTree::Build({}, {0, 1}, options).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(TimeTree::Build({{5, 1}}, {0, 5}, {}));
  EXPECT_FALSE(TimeTree::Build({{5, 1}}, {6, 9}, {}));
  EXPECT_TRUE(TimeTree::Build({}, {}, {}).value().Count({}).counts.empty());
}

}  // namespace
}  // namespace fieldcost::recording
