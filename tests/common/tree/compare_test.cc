#include "common/tree/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "common/tree/limits.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

constexpr std::uint64_t kPerSample = 1'000'000;  // ns
constexpr double kSamples = 20'000;              // of a run
const std::vector<Metric> kCpu = {{.name = "cpu", .per_sample = kPerSample}};

// A program as call paths with shares of its time, a few large and many small.
struct Program {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<double> shares;  // [path id]; their sum is 1
  PathId planted;              // a leaf with 2 %
};

Program RandomProgram(std::mt19937_64& random, std::uint32_t paths = 400) {
  auto dictionary = std::make_shared<Dictionary>();
  for (std::uint32_t i = 1; i < paths; ++i) {
    const FrameId frame =
        dictionary->frames.Intern({.module = "app", .function = "f" + std::to_string(i)}).value();
    const std::uint64_t parent = i < 5 ? i - 1 : random() % (i / 2 + 1);
    (void)dictionary->paths.Intern(PathId(static_cast<std::uint32_t>(parent)), frame).value();
  }
  Program program = {.shares = std::vector<double>(paths), .planted = PathId(paths - 1)};
  double sum = 0;
  for (std::uint32_t i = 1; i + 1 < paths; ++i) {
    program.shares[i] = 1.0 / static_cast<double>(1 + random() % paths);
    sum += program.shares[i];
  }
  for (double& share : program.shares) share *= 0.98 / sum;
  program.shares.back() = 0.02;
  program.dictionary = std::move(dictionary);
  return program;
}

struct Noise {
  double machine = 0.1;  // of a whole run, as a standard deviation of the logarithm
  double path = 0.02;    // of each path in each run
};

// Runs in which one path takes `times` as long, and everything `factor` times.
std::vector<Tree> Runs(const Program& program, int count, std::mt19937_64& random, double times = 1,
                       double factor = 1, Noise noise = {}) {
  std::vector<Tree> trees;
  std::normal_distribution<double> normal;
  for (int i = 0; i < count; ++i) {
    const double machine = factor * std::exp(noise.machine * normal(random));
    RunValues run(1, program.shares.size());
    const std::span<std::uint64_t> column = run.MutableColumn(0, program.shares.size());
    for (std::size_t path = 1; path < column.size(); ++path) {
      const double grown = path == program.planted.value() ? times : 1;
      std::poisson_distribution<std::uint64_t> samples(
          std::max(1e-9, kSamples * program.shares[path] * grown * machine *
                             std::exp(noise.path * normal(random))));
      column[path] = samples(random) * kPerSample;
    }
    trees.push_back(TreeOf(program.dictionary, kCpu, std::span(&run, 1)).value());
  }
  return trees;
}

struct Rates {
  double found = 0;  // repeats in which the planted path was
  double other = 0;  // and those in which anything else was
};

Rates RatesOf(int repeats, int runs, double times, double factor, std::uint64_t seed,
              const CompareOptions& options = {}) {
  std::mt19937_64 random(seed);
  Rates rates;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Program program = RandomProgram(random);
    const std::vector<Tree> before = Runs(program, runs, random);
    const std::vector<Tree> after = Runs(program, runs, random, times, factor);
    const Comparison comparison = Compare(before, after, "cpu", options).value();
    EXPECT_TRUE(comparison.is_enough);
    EXPECT_GT(comparison.tested, 100U);
    bool found = false;
    bool other = false;
    for (const Change& change : comparison.changes) {
      (change.path == program.planted ? found : other) = true;
      if (change.path == program.planted) {
        EXPECT_EQ(change.kind, ValueKind::kSelf);
        EXPECT_NEAR(change.after / change.before, times, 0.15 * times);
      }
    }
    rates.found += found ? 1.0 / repeats : 0;
    rates.other += other ? 1.0 / repeats : 0;
  }
  return rates;
}

TEST(CompareTest, APlantedFifthIsFoundAndHardlyAnythingElse) {
  const Rates rates = RatesOf(200, 10, 1.2, 1, 51);
  EXPECT_GE(rates.found, 0.87);
  EXPECT_LE(rates.other, 0.05);
}

TEST(CompareTest, APlantedHalfIsFoundAlways) {
  const Rates rates = RatesOf(200, 10, 1.5, 1, 52);
  EXPECT_GE(rates.found, 0.99);
  EXPECT_LE(rates.other, 0.05);
}

TEST(CompareTest, FiveRunsASideFindAPlantedHalf) {
  const Rates rates = RatesOf(200, 5, 1.5, 1, 53);
  EXPECT_GE(rates.found, 0.83);
  EXPECT_LE(rates.other, 0.05);
}

TEST(CompareTest, InEqualBuildsNothingIsFound) {
  EXPECT_LE(RatesOf(300, 10, 1, 1, 54).other, 0.01);
  EXPECT_LE(RatesOf(300, 3, 1, 1, 55).other, 0.02);
}

TEST(CompareTest, WhatIsSlowerAsAWholeIsTheFactorAndNoChange) {
  EXPECT_LE(RatesOf(100, 10, 1, 1.3, 56).other, 0.02);
  std::mt19937_64 random(57);
  const Program program = RandomProgram(random);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  const Comparison slower = Compare(Runs(program, 10, random, 1, 1, quiet),
                                    Runs(program, 10, random, 1, 1.06, quiet), "cpu")
                                .value();
  EXPECT_NEAR(slower.factor, 1.06, 0.02);
  EXPECT_LT(slower.factor_p.value(), 1e-3);
  EXPECT_NEAR(slower.total_after / slower.total_before, 1, 0.01);
  const Comparison equal =
      Compare(Runs(program, 10, random, 1, 1, quiet), Runs(program, 10, random, 1, 1, quiet), "cpu")
          .value();
  EXPECT_NEAR(equal.factor, 1, 0.02);
  EXPECT_GT(equal.factor_p.value(), 1e-3);
}

TEST(CompareTest, WhereThereIsNoCommonFactorAllOfItIsChange) {
  std::mt19937_64 random(61);
  const Program program = RandomProgram(random);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  const Comparison slower =
      Compare(Runs(program, 10, random, 1, 1, quiet), Runs(program, 10, random, 1, 1.3, quiet),
              "cpu", {.common_factor = false})
          .value();
  EXPECT_EQ(slower.factor, 1);
  EXPECT_NEAR(slower.total_after / slower.total_before, 1.3, 0.02);
  EXPECT_FALSE(slower.changes.empty());
}

TEST(CompareTest, OneRunASideIsTooLittleData) {
  std::mt19937_64 random(58);
  const Program program = RandomProgram(random);
  const std::vector<Tree> many = Runs(program, 5, random);
  const std::vector<Tree> one = Runs(program, 1, random, 10);
  for (const auto& comparison :
       {Compare(many, one, "cpu"), Compare(one, many, "cpu"), Compare(one, one, "cpu")}) {
    EXPECT_FALSE(comparison->is_enough);
    EXPECT_TRUE(comparison->changes.empty());
    EXPECT_FALSE(comparison->factor_p.has_value());
    EXPECT_GT(comparison->total_before, 0);
  }
  EXPECT_FALSE(
      Compare(Difference(many.front(), one.front()).value().tree, "cpu").value().is_enough);
}

// Trees of exact values: [run] = values by path.
using Exact = std::map<Names, std::uint64_t>;
std::vector<Tree> ExactRuns(const std::vector<Exact>& runs) {
  std::mt19937_64 random(1);
  std::vector<Tree> trees;
  for (const Exact& values : runs) {
    PlainRun run;
    for (const auto& [path, value] : values) run.self[path] = {value};
    trees.push_back(
        TreeOfPlain(std::span(&run, 1), {{.name = "calls", .unit = Unit::kCount}}, random));
  }
  return trees;
}

using Told = std::set<std::pair<Names, ValueKind>>;
Told ToldOf(const Comparison& comparison) {
  Told told;
  for (const Change& change : comparison.changes) {
    told.emplace(NamesOf(*comparison.dictionary, change.path), change.kind);
  }
  return told;
}

TEST(CompareTest, ExactValuesThatNeverVaryAreCertainAtOnce) {
  const Exact before = {{{"main"}, 100}, {{"main", "f"}, 100}, {{"main", "g"}, 1000}};
  Exact after = before;
  after[{"main", "f"}] = 150;
  const Comparison comparison =
      Compare(ExactRuns({before, before}), ExactRuns({after, after}), "calls").value();
  EXPECT_EQ(comparison.factor, 1);
  EXPECT_EQ(ToldOf(comparison), (Told{{{"main", "f"}, ValueKind::kSelf}}));
  EXPECT_EQ(comparison.changes.front().q, 0);
  EXPECT_EQ(comparison.changes.front().difference(), 50);
  const Comparison same =
      Compare(ExactRuns({before, before}), ExactRuns({before, before}), "calls").value();
  EXPECT_TRUE(same.changes.empty());
}

TEST(CompareTest, WhatVanishedAndWhatIsNewIsTold) {
  const Exact before = {{{"main"}, 1000}, {{"main", "old"}, 100}};
  const Exact after = {{{"main"}, 1000}, {{"main", "new"}, 100}};
  const Comparison comparison =
      Compare(ExactRuns({before, before}), ExactRuns({after, after}), "calls").value();
  EXPECT_EQ(ToldOf(comparison),
            (Told{{{"main", "old"}, ValueKind::kSelf}, {{"main", "new"}, ValueKind::kSelf}}));
}

TEST(CompareTest, AncestorsAreToldOnlyOfWhatTheirDescendantsDoNotExplain) {
  // f explains 90 of main's 100 more: 90 %.
  const Exact base = {
      {{"rest"}, 5000}, {{"main"}, 500}, {{"main", "f"}, 200}, {{"main", "g"}, 300}};
  Exact after = base;
  after[{"main", "f"}] = 290;
  after[{"main", "g"}] = 310;  // 3 % of g: no word of its own
  EXPECT_EQ(ToldOf(Compare(ExactRuns({base, base}), ExactRuns({after, after}), "calls").value()),
            (Told{{{"main", "f"}, ValueKind::kSelf}}));
  // Now 70 %: main is told, too; the root's change is main's.
  after[{"main", "f"}] = 270;
  after[{"main", "g"}] = 314;
  after[{"main"}] = 516;
  EXPECT_EQ(ToldOf(Compare(ExactRuns({base, base}), ExactRuns({after, after}), "calls").value()),
            (Told{{{"main", "f"}, ValueKind::kSelf}, {{"main"}, ValueKind::kInclusive}}));
}

TEST(CompareTest, SmallChangesAndSmallPathsAreNotWorthAWord) {
  const Exact base = {{{"a"}, 1'000'000}, {{"b"}, 10'000}, {{"c"}, 500}};
  Exact after = base;
  after[{"b"}] = 10'400;  // 4 % of the path
  after[{"c"}] = 1'000;   // twice, but 0.05 % of all
  EXPECT_TRUE(
      ToldOf(Compare(ExactRuns({base, base}), ExactRuns({after, after}), "calls").value()).empty());
  after[{"b"}] = 11'100;
  after[{"c"}] = 1'700;
  EXPECT_EQ(ToldOf(Compare(ExactRuns({base, base}), ExactRuns({after, after}), "calls").value()),
            (Told{{{"b"}, ValueKind::kSelf}, {{"c"}, ValueKind::kSelf}}));
}

TEST(CompareTest, PathsOfFewSamplesAreNotTested) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId large = Enter(*dictionary, {"large"});
  const PathId small = Enter(*dictionary, {"small"});
  const auto tree = [&](std::uint64_t samples) {
    RunValues run(1);
    EXPECT_TRUE(run.Add(0, large, 1000 * kPerSample).has_value());
    EXPECT_TRUE(run.Add(0, small, samples * kPerSample).has_value());
    return TreeOf(dictionary, kCpu, std::span(&run, 1)).value();
  };
  // large's self value, and the root's inclusive one.
  EXPECT_EQ(Compare(std::vector(10, tree(1)), std::vector(10, tree(19)), "cpu")->tested, 2U);
  EXPECT_EQ(Compare(std::vector(10, tree(1)), std::vector(10, tree(20)), "cpu")->tested, 3U);
  // 20 and 25 samples, never another number: chance can do that.
  EXPECT_TRUE(Compare(std::vector(2, tree(20)), std::vector(2, tree(25)), "cpu")->changes.empty());
}

TEST(CompareTest, SumsOverRunsAreJudgedBySidesAlone) {
  std::mt19937_64 random(59);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  int found = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Program program = RandomProgram(random);
    const Tree before = Add(Runs(program, 10, random, 1, 1, quiet)).value().tree;
    const Tree after = Add(Runs(program, 10, random, 1.5, 1.2, quiet)).value().tree;
    const MeanTree difference = Difference(before, after).value().tree;
    const Comparison comparison = Compare(difference, "cpu").value();
    EXPECT_TRUE(comparison.is_enough);
    EXPECT_NEAR(comparison.factor, 1.2, 0.03);
    EXPECT_FALSE(comparison.factor_p.has_value());
    found += ToldOf(comparison) ==
                     Told{{NamesOf(*program.dictionary, program.planted), ValueKind::kSelf}}
                 ? 1
                 : 0;
  }
  EXPECT_GE(found, 47);
}

TEST(CompareTest, MetricsMustBeThere) {
  std::mt19937_64 random(60);
  const std::vector<Tree> runs = Runs(RandomProgram(random, 10), 2, random);
  EXPECT_EQ(Compare(runs, runs, "wall").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Compare(Average(runs.front()).value(), "wall").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(Compare(runs, ExactRuns({{{{"f"}, 1}}}), "cpu").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_DEATH((void)Compare({}, runs, "cpu"), "before.empty");
  EXPECT_DEATH((void)Compare(runs, {}, "cpu"), "after.empty");
}

}  // namespace
}  // namespace fieldcost::tree
