#include "common/tree/algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "common/tree/codec.h"
#include "common/tree/tree_limits.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

std::vector<PlainRun> RandomRuns(std::mt19937_64& random, std::size_t runs, std::size_t metrics) {
  std::vector<PlainRun> all;
  for (std::size_t i = 0; i < runs; ++i) all.push_back(RandomRun(random, metrics));
  return all;
}

Spread SpreadOf(const std::vector<std::uint64_t>& values) {
  Spread spread = {.min = *std::min_element(values.begin(), values.end()),
                   .max = *std::max_element(values.begin(), values.end())};
  for (const std::uint64_t value : values) {
    spread.sum += value;
    spread.sum_squares += Uint128{value} * value;
  }
  return spread;
}

// Checks that every path has the same values in the tree as in the plain runs.
void ExpectSumOf(const std::vector<PlainRun>& runs, const Tree& tree) {
  EXPECT_EQ(tree.runs, runs.size());
  for (const Names& path : AllPaths(runs)) {
    const auto id = Find(*tree.dictionary, path);
    ASSERT_TRUE(id.has_value());
    EXPECT_EQ(tree.present[id->value()],
              std::count_if(runs.begin(), runs.end(),
                            [&](const PlainRun& run) { return run.IsIn(path); }));
    for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
      std::vector<std::uint64_t> self;
      std::vector<std::uint64_t> inclusive;
      for (const PlainRun& run : runs) {
        self.push_back(run.Self(path, metric));
        inclusive.push_back(run.Inclusive(path, metric));
      }
      EXPECT_TRUE(tree.values[metric].self[id->value()] == SpreadOf(self));
      EXPECT_TRUE(tree.values[metric].inclusive[id->value()] == SpreadOf(inclusive));
    }
  }
}

TEST(TreeTest, ATreeOfRunsIsWhatAddingThemOneByOneGives) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::vector<PlainRun> runs = RandomRuns(random, 1 + random() % 40, 1 + random() % 3);
    const std::size_t metrics = runs.front().self.begin()->second.size();
    const Tree tree = TreeOfPlain(runs, SomeMetrics(metrics), random);
    ExpectSumOf(runs, tree);
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      for (const Uint128 excess : Excess(tree, metric)) EXPECT_TRUE(excess == 0);
    }
  }
}

TEST(TreeTest, MetricsAreInTheOrderOfTheirNames) {
  auto dictionary = std::make_shared<Dictionary>();
  RunValues run(2);
  ASSERT_TRUE(run.Add(0, Enter(*dictionary, {"f"}), 7).has_value());
  const std::vector<Metric> metrics = {{.name = "wall"}, {.name = "calls", .unit = Unit::kCount}};
  const Tree tree = TreeOf(dictionary, metrics, std::span(&run, 1)).value();
  ASSERT_EQ(tree.metrics, (std::vector{metrics[1], metrics[0]}));
  EXPECT_TRUE(tree.values[1].self[1].sum == 7);
  EXPECT_TRUE(tree.values[0].self[1].sum == 0);
  EXPECT_EQ(FindMetric(tree.metrics, "wall"), 1U);
  EXPECT_EQ(FindMetric(tree.metrics, "cpu"), std::nullopt);
}

TEST(TreeTest, NoMetricIsThereTwiceOrTooMany) {
  const auto dictionary = std::make_shared<Dictionary>();
  const RunValues two(2);
  EXPECT_EQ(TreeOf(dictionary, {{.name = "a"}, {.name = "a"}}, std::span(&two, 1)).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(TreeOf(dictionary, {{.name = "a"}, {.name = ""}}, std::span(&two, 1)).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(
      TreeOf(dictionary, SomeMetrics(kMaxMetrics), std::vector<RunValues>{RunValues(kMaxMetrics)})
          .has_value());
}

TEST(TreeTest, RefusesValuesThatOverflow) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId f = Enter(*dictionary, {"f"});
  const PathId g = Enter(*dictionary, {"f", "g"});
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  RunValues most(1);
  ASSERT_TRUE(most.Add(0, g, kMost).has_value());
  const Tree tree = TreeOf(dictionary, SomeMetrics(1), std::span(&most, 1)).value();
  EXPECT_TRUE(tree.values[0].inclusive[0].sum_squares == Uint128{kMost} * kMost);
  // The squares of two runs exceed 128 bits, in one sweep or two, or in a sum of trees.
  EXPECT_EQ(TreeOf(dictionary, SomeMetrics(1), std::vector{most, most}).error().code,
            ErrorCode::kTooLarge);
  std::vector<RunValues> many(17, RunValues(1));
  many.front() = many.back() = most;
  EXPECT_EQ(TreeOf(dictionary, SomeMetrics(1), many).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(Add(std::vector{tree, tree}).error().code, ErrorCode::kTooLarge);
  // The inclusive value of a run exceeds 64 bits, because of its own self value or its children.
  RunValues own = most;
  ASSERT_TRUE(own.Add(0, f, 1).has_value());
  EXPECT_EQ(TreeOf(dictionary, SomeMetrics(1), std::span(&own, 1)).error().code,
            ErrorCode::kTooLarge);
  RunValues siblings = most;
  ASSERT_TRUE(siblings.Add(0, Enter(*dictionary, {"h"}), 1).has_value());
  EXPECT_EQ(TreeOf(dictionary, SomeMetrics(1), std::span(&siblings, 1)).error().code,
            ErrorCode::kTooLarge);
}

TEST(TreeTest, SumsOfLargeValuesAreExact) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId f = Enter(*dictionary, {"f"});
  const PathId g = Enter(*dictionary, {"f", "g"});
  for (const unsigned bit : {29U, 30U, 59U, 60U, 61U}) {
    for (const std::size_t count : {1U, 2U, 10U, 15U, 16U, 17U, 33U}) {
      std::vector<RunValues> runs;
      std::vector<std::uint64_t> own;
      std::vector<std::uint64_t> below;
      std::vector<std::uint64_t> inclusive;
      for (std::size_t i = 0; i < count; ++i) {
        // Only the first ones are this large, so that the squares fit.
        own.push_back((std::uint64_t{1} << (i < 8 ? bit : 50U)) - i % 2);
        below.push_back(i % 3 == 0 ? 0 : own.back() - i);
        inclusive.push_back(own.back() + below.back());
        runs.emplace_back(1);
        ASSERT_TRUE(runs.back().Add(0, f, own.back()).has_value());
        ASSERT_TRUE(runs.back().Add(0, g, below.back()).has_value());
      }
      const Tree tree = TreeOf(dictionary, SomeMetrics(1), runs).value();
      const MetricSpreads& of = tree.values[0];
      EXPECT_TRUE(of.self[f.value()] == SpreadOf(own)) << bit << ' ' << count;
      EXPECT_TRUE(of.self[g.value()] == SpreadOf(below)) << bit << ' ' << count;
      EXPECT_TRUE(of.inclusive[g.value()] == SpreadOf(below)) << bit << ' ' << count;
      EXPECT_TRUE(of.inclusive[f.value()] == SpreadOf(inclusive)) << bit << ' ' << count;
      EXPECT_TRUE(of.inclusive[0] == SpreadOf(inclusive)) << bit << ' ' << count;
    }
  }
}

TEST(TreeTest, CallersGiveRunsWithTheColumnsOfTheMetrics) {
  const auto dictionary = std::make_shared<Dictionary>();
  const RunValues run(1);
  EXPECT_DEATH((void)TreeOf(dictionary, SomeMetrics(1), {}), "runs.empty");
  EXPECT_DEATH((void)TreeOf(dictionary, SomeMetrics(2), std::span(&run, 1)), "run.metrics");
  const RunValues longer(1, 2);
  EXPECT_DEATH((void)TreeOf(dictionary, SomeMetrics(1), std::span(&longer, 1)), "columns");
  const Tree tree = TreeOf(dictionary, SomeMetrics(1), std::span(&run, 1)).value();
  EXPECT_DEATH(Excess(tree, 1), "metric <");
  EXPECT_DEATH((void)Add(std::span<const Tree>()), "trees.empty");
  EXPECT_DEATH((void)Minimum({}), "trees.empty");
}

// Adds them in random order and grouping.
Tree AddAtRandom(std::vector<Tree> trees, std::mt19937_64& random) {
  std::shuffle(trees.begin(), trees.end(), random);
  while (trees.size() > 1) {
    const std::size_t begin = random() % (trees.size() - 1);
    const std::size_t count = 2 + random() % (trees.size() - begin - 1);
    Tree sum = Add(std::span(trees).subspan(begin, count)).value().tree;
    trees.erase(trees.begin() + std::ptrdiff_t(begin) + 1,
                trees.begin() + std::ptrdiff_t(begin + count));
    trees[begin] = std::move(sum);
  }
  return trees.front();
}

TEST(AlgebraTest, AddingInAThousandOrdersGivesTheSameBits) {
  std::mt19937_64 random(12);
  std::vector<PlainRun> all;
  std::vector<Tree> trees;
  for (int i = 0; i < 8; ++i) {
    const std::vector<PlainRun> runs = RandomRuns(random, 1 + random() % 4, 2);
    all.insert(all.end(), runs.begin(), runs.end());
    trees.push_back(TreeOfPlain(runs, SomeMetrics(2), random));
  }
  const Tree whole = TreeOfPlain(all, SomeMetrics(2), random);
  const std::string bytes = EncodeTree(whole);
  for (int order = 0; order < 1000; ++order) {
    const Tree sum = AddAtRandom(trees, random);
    ASSERT_EQ(EncodeTree(sum), bytes);
    if (order == 0) ExpectSumOf(all, sum);
  }
}

TEST(AlgebraTest, TreesOfOneDictionaryAddLikeOthers) {
  std::mt19937_64 random(13);
  const std::vector<PlainRun> runs = RandomRuns(random, 6, 2);
  auto dictionary = std::make_shared<Dictionary>();
  for (const Names& path : AllPaths(runs)) Enter(*dictionary, path);
  std::vector<Tree> shared;
  std::vector<Tree> own;
  for (const PlainRun& run : runs) {
    RunValues values(2);
    for (const auto& [path, self] : run.self) {
      for (std::size_t metric = 0; metric < 2; ++metric) {
        ASSERT_TRUE(values.Add(metric, *Find(*dictionary, path), self[metric]).has_value());
      }
    }
    shared.push_back(TreeOf(dictionary, SomeMetrics(2), std::span(&values, 1)).value());
    own.push_back(TreeOfPlain(std::span(&run, 1), SomeMetrics(2), random));
  }
  const Tree sum = Add(shared).value().tree;
  EXPECT_EQ(sum.dictionary, dictionary);
  EXPECT_EQ(EncodeTree(sum), EncodeTree(Add(own).value().tree));
  own[0] = shared[0];
  own[3] = shared[3];
  EXPECT_EQ(EncodeTree(sum), EncodeTree(Add(own).value().tree));
}

TEST(AlgebraTest, AMinimumHasThePathsOfAllRunsWithTheLeastOfEach) {
  std::mt19937_64 random(14);
  std::size_t kept = 0;
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<PlainRun> all;
    std::vector<Tree> trees;
    for (std::uint64_t i = 0; i < 1 + random() % 4; ++i) {
      std::vector<PlainRun> runs;
      for (std::uint64_t k = 0; k < 1 + random() % 3; ++k) {
        runs.push_back(RandomRun(random, 2, 60));
      }
      all.insert(all.end(), runs.begin(), runs.end());
      trees.push_back(TreeOfPlain(runs, SomeMetrics(2), random));
    }
    const Tree least = Minimum(trees).value().tree;
    EXPECT_EQ(least.runs, 1U);
    EXPECT_EQ(least.least_of, all.size());
    for (const Names& path : AllPaths(all)) {
      const PathId id = *Find(*least.dictionary, path);
      const bool is_kept =
          std::all_of(all.begin(), all.end(), [&](const PlainRun& run) { return run.IsIn(path); });
      EXPECT_EQ(least.present[id.value()], is_kept ? 1U : 0U);
      for (std::size_t metric = 0; metric < 2; ++metric) {
        std::uint64_t self = is_kept ? ~std::uint64_t{0} : 0;
        std::uint64_t inclusive = self;
        for (const PlainRun& run : all) {
          self = std::min(self, run.Self(path, metric));
          inclusive = std::min(inclusive, run.Inclusive(path, metric));
        }
        EXPECT_TRUE(least.values[metric].self[id.value()] == SpreadOf({self}));
        EXPECT_TRUE(least.values[metric].inclusive[id.value()] == SpreadOf({inclusive}));
      }
      kept += is_kept ? 1 : 0;
    }
    for (std::size_t metric = 0; metric < 2; ++metric) {  // never below its parts
      for (const Uint128 excess : Excess(least, metric)) EXPECT_TRUE(stats::High64(excess) == 0);
    }
    // In a different order, and as minima of minima.
    std::shuffle(trees.begin(), trees.end(), random);
    if (trees.size() > 1) {
      const Tree two = Minimum(std::span(trees).first(2)).value().tree;
      trees.erase(trees.begin());
      trees[0] = two;
    }
    EXPECT_EQ(EncodeTree(Minimum(trees).value().tree), EncodeTree(least));
    EXPECT_EQ(EncodeTree(DecodeTree(EncodeTree(least)).value()), EncodeTree(least));
  }
  EXPECT_GT(kept, 300U);
}

// f has 10 + 1 in one run and 1 + 10 in the other: 11 inclusive in both, at least 1 of each part.
TEST(AlgebraTest, TheExcessOverTheMinimumIsWhatVaries) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId f = Enter(*dictionary, {"f"});
  const PathId g = Enter(*dictionary, {"f", "g"});
  std::vector<RunValues> runs(2, RunValues(1, 3));
  for (const auto& [run, path, value] :
       {std::tuple(0, f, 10U), std::tuple(0, g, 1U), std::tuple(1, f, 1U), std::tuple(1, g, 10U)}) {
    ASSERT_TRUE(runs[std::size_t(run)].Add(0, path, value).has_value());
  }
  const Tree tree = TreeOf(dictionary, SomeMetrics(1), runs).value();
  const Tree least = Minimum(std::span(&tree, 1)).value().tree;
  EXPECT_TRUE(least.values[0].inclusive[f.value()].sum == 11);
  EXPECT_TRUE(least.values[0].self[f.value()].sum == 1);
  EXPECT_TRUE(least.values[0].inclusive[g.value()].sum == 1);
  EXPECT_TRUE(Excess(least, 0)[f.value()] == 9);
  EXPECT_TRUE(Excess(least, 0)[g.value()] == 0);
  EXPECT_TRUE(Excess(least, 0)[0] == 0);
}

Tree OneMetric(Metric metric, std::uint64_t value) {
  auto dictionary = std::make_shared<Dictionary>();
  RunValues run(1);
  EXPECT_TRUE(run.Add(0, Enter(*dictionary, {"f"}), value).has_value());
  return TreeOf(dictionary, {std::move(metric)}, std::span(&run, 1)).value();
}

TEST(AlgebraTest, AMetricThatOneLacksIsMissingInTheResultWithARemark) {
  std::mt19937_64 random(15);
  std::vector<Tree> trees;
  for (const std::size_t metrics : {3U, 2U, 3U}) {
    const PlainRun run = RandomRun(random, metrics);
    trees.push_back(TreeOfPlain(std::span(&run, 1), SomeMetrics(metrics), random));
  }
  for (const auto& result : {Add(trees), Minimum(trees)}) {
    EXPECT_EQ(result->tree.metrics, SomeMetrics(2));
    EXPECT_THAT(result->remarks, testing::ElementsAre(testing::HasSubstr("m2")));
  }
  const std::vector<Tree> unlike = {OneMetric({.name = "a"}, 1), OneMetric({.name = "b"}, 1)};
  EXPECT_EQ(Add(unlike).error().code, ErrorCode::kInvalidArgument);
}

TEST(AlgebraTest, OtherUnitsDoNotAdd) {
  const std::vector<Tree> trees = {OneMetric({.name = "wall"}, 1),
                                   OneMetric({.name = "wall", .unit = Unit::kCount}, 1)};
  EXPECT_EQ(Add(trees).error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(Add(trees).error().message, testing::HasSubstr("wall"));
  EXPECT_EQ(Minimum(trees).error().code, ErrorCode::kInvalidArgument);
}

TEST(AlgebraTest, SamplesCountAsNanosecondsAndMakeTheSumSampled) {
  const std::vector<Tree> trees = {OneMetric({.name = "cpu", .per_sample = 1000}, 5000),
                                   OneMetric({.name = "cpu"}, 77),
                                   OneMetric({.name = "cpu", .per_sample = 10}, 20)};
  const auto sum = Add(trees).value();
  EXPECT_EQ(sum.tree.metrics.front().per_sample, 1000U);
  EXPECT_TRUE(sum.tree.values[0].inclusive[0].sum == 5097);
  EXPECT_TRUE(sum.remarks.empty());
  EXPECT_THAT(Minimum(trees)->remarks, testing::ElementsAre(testing::HasSubstr("sampled")));
}

TEST(AlgebraTest, RunsHaveALimit) {
  Tree tree = OneMetric({.name = "wall"}, 1);
  tree.runs = kMaxRuns;
  EXPECT_EQ(Add(std::vector{tree, OneMetric({.name = "wall"}, 1)}).error().code,
            ErrorCode::kTooLarge);
  EXPECT_EQ(Minimum(std::vector{tree, OneMetric({.name = "wall"}, 1)}).error().code,
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::tree
