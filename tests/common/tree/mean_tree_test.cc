#include "common/tree/mean_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "common/tree/codec.h"
#include "common/tree/tree_limits.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

using stats::Int128;
using stats::Uint128;

struct Side {
  std::vector<PlainRun> runs;
  Tree tree;
};

Side RandomSide(std::mt19937_64& random, std::size_t metrics = 2) {
  Side side;
  for (std::uint64_t i = 0; i < 1 + random() % 12; ++i) {
    side.runs.push_back(RandomRun(random, metrics));
  }
  side.tree = TreeOfPlain(side.runs, SomeMetrics(metrics), random);
  return side;
}

// [path names] = numerator over `denominator`, without zeros.
using NetByName = std::map<Names, Int128>;
struct ByName {
  std::uint64_t denominator;
  std::vector<NetByName> self;
  std::vector<NetByName> inclusive;
  bool operator==(const ByName&) const = default;
};
ByName NetOf(const MeanTree& tree) {
  const NetValues net = Net(tree);
  ByName result = {.denominator = net.denominator};
  const auto named = [&](const std::vector<Int128>& values) {
    NetByName map;
    for (std::uint32_t path = 0; path < values.size(); ++path) {
      if (values[path] != 0) map[NamesOf(*tree.dictionary, PathId(path))] = values[path];
    }
    return map;
  };
  for (const auto& values : net.self) result.self.push_back(named(values));
  for (const auto& values : net.inclusive) result.inclusive.push_back(named(values));
  return result;
}

// Compares each value with sums over plain runs, in lowest terms or not.
void ExpectDifference(const Side& before, const Side& after, const MeanTree& difference) {
  const auto runs_before = static_cast<Int128>(before.runs.size());
  const auto runs_after = static_cast<Int128>(after.runs.size());
  const auto denominator = static_cast<Int128>(difference.denominator);
  EXPECT_EQ(difference.denominator, std::lcm(before.runs.size(), after.runs.size()));
  std::vector<PlainRun> all = before.runs;
  all.insert(all.end(), after.runs.begin(), after.runs.end());
  for (const Names& path : AllPaths(all)) {
    const std::size_t id = Find(*difference.dictionary, path)->value();
    const auto is_in = [&](const PlainRun& run) { return run.IsIn(path); };
    const bool in_before = std::any_of(before.runs.begin(), before.runs.end(), is_in);
    const bool in_after = std::any_of(after.runs.begin(), after.runs.end(), is_in);
    EXPECT_EQ(difference.where[id], (in_before ? kInBefore : 0) + (in_after ? kInAfter : 0));
    for (std::size_t metric = 0; metric < 2; ++metric) {
      Int128 self = 0;
      Int128 inclusive = 0;
      Uint128 squares_before = 0;
      Uint128 squares_after = 0;
      for (const PlainRun& run : before.runs) {
        const Int128 brings =
            static_cast<Int128>(run.Self(path, metric)) * denominator / runs_before;
        self -= brings;
        squares_before += static_cast<Uint128>(brings * brings);
        inclusive -= static_cast<Int128>(run.Inclusive(path, metric)) * denominator / runs_before;
      }
      for (const PlainRun& run : after.runs) {
        const Int128 brings =
            static_cast<Int128>(run.Self(path, metric)) * denominator / runs_after;
        self += brings;
        squares_after += static_cast<Uint128>(brings * brings);
        inclusive += static_cast<Int128>(run.Inclusive(path, metric)) * denominator / runs_after;
      }
      const Sides& sides = difference.values[metric].self[id];
      EXPECT_TRUE(NumeratorOf(sides) == self);
      EXPECT_TRUE(NumeratorOf(difference.values[metric].inclusive[id]) == inclusive);
      EXPECT_TRUE(sides.before.sum_squares == squares_before);
      EXPECT_TRUE(sides.after.sum_squares == squares_after);
    }
  }
}

TEST(MeanTreeTest, ADifferenceIsThatOfTheMeans) {
  std::mt19937_64 random(21);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Side before = RandomSide(random);
    const Side after = RandomSide(random);
    const auto difference = Difference(before.tree, after.tree).value();
    EXPECT_TRUE(difference.remarks.empty());
    EXPECT_EQ(difference.tree.runs_before, before.runs.size());
    EXPECT_EQ(difference.tree.runs_after, after.runs.size());
    ExpectDifference(before, after, difference.tree);
  }
}

TEST(MeanTreeTest, TheOldMeanAndTheDifferenceAreTheNewMeanBitForBit) {
  std::mt19937_64 random(22);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Side before = RandomSide(random);
    const Side after = RandomSide(random);
    const MeanTree difference = Difference(before.tree, after.tree).value().tree;
    const MeanTree old_mean = Average(before.tree).value();
    const MeanTree sum = Add(std::vector{old_mean, difference}).value().tree;
    EXPECT_TRUE(NetOf(sum) == NetOf(Average(after.tree).value()));
    EXPECT_FALSE(NetOf(sum) == NetOf(old_mean));
  }
}

TEST(MeanTreeTest, DifferencesAddDifferAndStandInBytesLikeMeans) {
  std::mt19937_64 random(23);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Side a = RandomSide(random);
    const Side b = RandomSide(random);
    const Side c = RandomSide(random);
    const MeanTree a_to_b = Difference(a.tree, b.tree).value().tree;
    const MeanTree b_to_c = Difference(b.tree, c.tree).value().tree;
    const MeanTree a_to_c = Difference(a.tree, c.tree).value().tree;
    const MeanTree sum = Add(std::vector{a_to_b, b_to_c}).value().tree;
    EXPECT_TRUE(NetOf(sum) == NetOf(a_to_c));
    const MeanTree second = Difference(a_to_b, a_to_c).value().tree;
    EXPECT_TRUE(NetOf(second) == NetOf(b_to_c));
    const MeanTree none = Difference(sum, a_to_c).value().tree;
    for (const NetByName& values : NetOf(none).inclusive) EXPECT_TRUE(values.empty());
    EXPECT_EQ(Net(none).denominator, 1U);
    for (const MeanTree& tree : {a_to_b, sum, second, none, Average(a.tree).value()}) {
      const std::string bytes = EncodeMeanTree(tree);
      const MeanTree again = DecodeMeanTree(bytes).value();
      EXPECT_EQ(EncodeMeanTree(again), bytes);
      EXPECT_TRUE(NetOf(again) == NetOf(tree));
    }
  }
}

TEST(MeanTreeTest, AnyOrderAndGroupingGivesTheSameBits) {
  std::mt19937_64 random(24);
  std::vector<MeanTree> trees;
  for (int i = 0; i < 5; ++i) {
    trees.push_back(Difference(RandomSide(random).tree, RandomSide(random).tree).value().tree);
  }
  const std::string bytes = EncodeMeanTree(Add(trees).value().tree);
  for (int order = 0; order < 100; ++order) {
    std::shuffle(trees.begin(), trees.end(), random);
    const std::size_t first = 2 + random() % 3;
    std::vector<MeanTree> rest(trees.begin() + static_cast<std::ptrdiff_t>(first), trees.end());
    rest.push_back(Add(std::span(trees).first(first)).value().tree);
    ASSERT_EQ(EncodeMeanTree(Add(rest).value().tree), bytes);
  }
}

Tree OneRun(Metric metric, std::uint64_t value) {
  auto dictionary = std::make_shared<Dictionary>();
  RunValues run(1);
  EXPECT_TRUE(run.Add(0, Enter(*dictionary, {"f"}), value).has_value());
  return TreeOf(dictionary, {std::move(metric)}, std::span(&run, 1)).value();
}

TEST(MeanTreeTest, MetricsMatchAsInSums) {
  std::mt19937_64 random(25);
  const auto difference =
      Difference(RandomSide(random, 3).tree, RandomSide(random, 2).tree).value();
  EXPECT_EQ(difference.tree.metrics, SomeMetrics(2));
  EXPECT_THAT(difference.remarks, testing::ElementsAre(testing::HasSubstr("m2")));
  EXPECT_EQ(Difference(OneRun({.name = "a"}, 1), OneRun({.name = "a", .unit = Unit::kBytes}, 1))
                .error()
                .code,
            ErrorCode::kInvalidArgument);
}

TEST(MeanTreeTest, RefusesValuesThatOverflow) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  MeanTree large = Average(OneRun({.name = "a"}, kMost)).value();
  MeanTree third = Average(OneRun({.name = "a"}, 1)).value();
  third.denominator = 3;
  // The squares are multiplied by 9.
  EXPECT_EQ(Add(std::vector{large, third}).error().code, ErrorCode::kTooLarge);
  third.denominator = kMost;
  large.denominator = kMost - 1;
  EXPECT_EQ(Add(std::vector{large, third}).error().code, ErrorCode::kTooLarge);
  large.denominator = 1;
  large.values[0].self[1].after = {.sum = (Uint128{1} << 127) - 1, .sum_squares = 1};
  EXPECT_EQ(Add(std::vector{large, large}).error().code, ErrorCode::kTooLarge);
  Tree sum = OneRun({.name = "a"}, 1);
  sum.values[0].inclusive[0].sum = Uint128{1} << 127;
  EXPECT_EQ(Average(sum).error().code, ErrorCode::kTooLarge);
  MeanTree runs = Average(OneRun({.name = "a"}, 1)).value();
  runs.runs_after = kMaxRuns;
  EXPECT_EQ(Add(std::vector{runs, third}).error().code, ErrorCode::kTooLarge);
  EXPECT_DEATH((void)Add(std::span<const MeanTree>()), "trees.empty");
}

}  // namespace
}  // namespace fieldcost::tree
