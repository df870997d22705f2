#include "common/tree/compare_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/tree/tree_limits.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

constexpr std::uint64_t kPerSample = 1'000'000;  // ns
constexpr double kSamples = 20'000;              // per run
const std::vector<Metric> kCpu = {{.name = "cpu", .per_sample = kPerSample}};

// A program as call paths with shares of its time.
struct Program {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<double> shares;  // [path id]; their sum is 1
  PathId hottest;
  PathId small;  // a leaf with 2 %
};

PathId AddPath(Dictionary& dictionary, PathId parent, const std::string& function) {
  const FrameId frame = dictionary.frames.Intern({.module = "app", .function = function}).value();
  return dictionary.paths.Intern(parent, frame).value();
}

// A few large and many small paths.
Program RandomProgram(std::mt19937_64& random, std::uint32_t paths = 400) {
  auto dictionary = std::make_shared<Dictionary>();
  for (std::uint32_t i = 1; i < paths; ++i) {
    const std::uint64_t parent = i < 5 ? i - 1 : random() % (i / 2 + 1);
    AddPath(*dictionary, PathId(static_cast<std::uint32_t>(parent)), "f" + std::to_string(i));
  }
  Program program = {.shares = std::vector<double>(paths), .small = PathId(paths - 1)};
  double sum = 0;
  for (std::uint32_t i = 1; i + 1 < paths; ++i) {
    program.shares[i] = 1.0 / static_cast<double>(1 + random() % paths);
    sum += program.shares[i];
  }
  for (double& share : program.shares) share *= 0.98 / sum;
  program.shares.back() = 0.02;
  const auto most = std::ranges::max_element(program.shares);
  program.hottest = PathId(static_cast<std::uint32_t>(most - program.shares.begin()));
  program.dictionary = std::move(dictionary);
  return program;
}

// main calls functions with these shares of the time; the last one is the small one.
Program FlatProgram(const std::vector<double>& shares) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId main = AddPath(*dictionary, kRootPath, "main");
  Program program = {.shares = {0, 0}};
  for (const double share : shares) {
    program.small = AddPath(*dictionary, main, "f" + std::to_string(program.shares.size()));
    if (share >= std::ranges::max(program.shares)) program.hottest = program.small;
    program.shares.push_back(share);
  }
  program.dictionary = std::move(dictionary);
  return program;
}

enum class Shape { kRandom, kDominated, kEqual };
Program ProgramOf(Shape shape, std::mt19937_64& random) {
  if (shape == Shape::kRandom) return RandomProgram(random);
  if (shape == Shape::kDominated) return FlatProgram({0.63, 0.2, 0.15, 0.02});
  std::vector<double> equal(20, 0.049);
  equal.push_back(0.02);
  return FlatProgram(equal);
}

struct Noise {
  double machine = 0.1;  // common to a whole run, as a standard deviation of the logarithm
  double path = 0.02;    // of each path in each run
};

// The differences planted in the second build.
struct Planted {
  double all = 1;      // everything takes this many times as long
  double hottest = 1;  // in addition, the hottest path
  double small = 1;    // and the small one
};

std::vector<Tree> Runs(const Program& program, int count, std::mt19937_64& random,
                       Planted planted = {}, Noise noise = {}) {
  std::vector<Tree> trees;
  std::normal_distribution<double> normal;
  for (int i = 0; i < count; ++i) {
    const double machine = planted.all * std::exp(noise.machine * normal(random));
    RunValues run(1, program.shares.size());
    const std::span<std::uint64_t> column = run.MutableColumn(0, program.shares.size());
    for (std::uint32_t path = 1; path < column.size(); ++path) {
      const double grown = PathId(path) == program.small     ? planted.small
                           : PathId(path) == program.hottest ? planted.hottest
                                                             : 1;
      std::poisson_distribution<std::uint64_t> samples(
          std::max(1e-9, kSamples * program.shares[path] * grown * machine *
                             std::exp(noise.path * normal(random))));
      column[path] = samples(random) * kPerSample;
    }
    trees.push_back(TreeOf(program.dictionary, kCpu, std::span(&run, 1)).value());
  }
  return trees;
}

// Whether the path leads to the other one, so that its inclusive value includes the other's change.
bool LeadsTo(const Dictionary& dictionary, PathId path, PathId other) {
  while (other != kRootPath && other != path) other = dictionary.paths.parent(other);
  return other == path;
}

// Shares of the repeats.
struct Rates {
  double hottest = 0;  // in which the hottest path was found
  double small = 0;    // the small one
  double other = 0;    // any path that leads to neither
  double total = 0;    // the whole
  double any = 0;      // any of these
  double alike = 0;    // in which all paths are reported to have changed alike
};

struct Case {
  Shape shape = Shape::kRandom;
  int repeats = 200;
  int runs = 10;
  Planted planted = {};
  Noise noise = {};
};

Rates RatesOf(const Case& one, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rates rates;
  const auto count = [&](double& rate, bool happened) { rate += happened ? 1.0 / one.repeats : 0; };
  for (int repeat = 0; repeat < one.repeats; ++repeat) {
    const Program program = ProgramOf(one.shape, random);
    const std::vector<Tree> before = Runs(program, one.runs, random, {}, one.noise);
    const std::vector<Tree> after = Runs(program, one.runs, random, one.planted, one.noise);
    const Comparison comparison = Compare(before, after, "cpu").value();
    EXPECT_TRUE(comparison.is_enough);
    const auto has = [&](const auto& is_it) {
      return std::ranges::any_of(comparison.changes, is_it);
    };
    count(rates.hottest, has([&](const Change& c) { return c.path == program.hottest; }));
    count(rates.small, has([&](const Change& c) { return c.path == program.small; }));
    count(rates.other, has([&](const Change& c) {
            return !LeadsTo(*comparison.dictionary, c.path, program.hottest) &&
                   !LeadsTo(*comparison.dictionary, c.path, program.small);
          }));
    count(rates.total, inference::IsChange(comparison.total.verdict));
    count(rates.any, inference::IsChange(comparison.total.verdict) || !comparison.changes.empty());
    count(rates.alike, comparison.AreAllAlike());
  }
  return rates;
}

constexpr Shape kShapes[] = {Shape::kRandom, Shape::kDominated, Shape::kEqual};

TEST(CompareTest, EqualBuildsReportNothing) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    EXPECT_LE(RatesOf({.shape = shape, .repeats = 300}, 54).any, 0.05);
    EXPECT_LE(RatesOf({.shape = shape, .repeats = 300, .runs = 3}, 55).any, 0.05);
    EXPECT_LE(RatesOf({.shape = shape, .noise = {.machine = 0.01, .path = 0.01}}, 56).any, 0.05);
  }
}

TEST(CompareTest, FindsThatEverythingIsSlowerByAFifth) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    const Rates rates = RatesOf({.shape = shape, .planted = {.all = 1.2}}, 57);
    EXPECT_GE(rates.total, 0.8);
    EXPECT_GE(rates.alike, 0.7);
    const Rates quiet =
        RatesOf({.shape = shape, .planted = {.all = 1.2}, .noise = {.machine = 0.03}}, 58);
    EXPECT_GE(quiet.total, 0.99);
  }
}

TEST(CompareTest, FindsAHottestPathThatIsSlowerByHalfAndBlamesNoOther) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    const Rates rates = RatesOf({.shape = shape, .planted = {.hottest = 1.5}}, 59);
    EXPECT_GE(rates.hottest, 0.98);
    EXPECT_LE(rates.small, 0.05);
    EXPECT_LE(rates.other, 0.05);
    EXPECT_LE(rates.alike, 0.01);
  }
}

TEST(CompareTest, FindsASmallPathThatIsSlowerByHalfAndBlamesNoOther) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    const Rates rates = RatesOf({.shape = shape, .planted = {.small = 1.5}}, 60);
    EXPECT_GE(rates.small, 0.9);
    EXPECT_LE(rates.hottest, 0.05);
    EXPECT_LE(rates.other, 0.05);
    EXPECT_GE(RatesOf({.shape = shape, .runs = 5, .planted = {.small = 1.5}}, 61).small, 0.83);
    EXPECT_GE(RatesOf({.shape = shape, .planted = {.small = 1.2}}, 62).small, 0.75);
  }
}

TEST(CompareTest, ReportsValuesAsMeasuredForAnyCommonFactor) {
  std::mt19937_64 random(57);
  const Program program = RandomProgram(random);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  const std::vector<Tree> usual = Runs(program, 10, random, {}, quiet);
  const Comparison slower =
      Compare(usual, Runs(program, 10, random, {.all = 1.3}, quiet), "cpu").value();
  EXPECT_NEAR(slower.factor, 1.3, 0.02);
  EXPECT_LT(slower.factor_p.value(), 1e-3);
  EXPECT_NEAR(slower.total.after / slower.total.before, 1.3, 0.02);
  EXPECT_TRUE(inference::IsChange(slower.total.verdict));
  EXPECT_TRUE(slower.HasIncrease());
  EXPECT_FALSE(slower.changes.empty());
  for (const Change& change : slower.changes) EXPECT_GT(change.after / change.before, 1.1);
  const Comparison equal = Compare(usual, Runs(program, 10, random, {}, quiet), "cpu").value();
  EXPECT_NEAR(equal.factor, 1, 0.02);
  EXPECT_GT(equal.factor_p.value(), 1e-3);
  EXPECT_FALSE(equal.HasIncrease());
}

TEST(CompareTest, MetricsThatDoNotDependOnSpeedHaveNoFactor) {
  std::mt19937_64 random(61);
  const Program program = RandomProgram(random);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  const Comparison more =
      Compare(Runs(program, 10, random, {}, quiet), Runs(program, 10, random, {.all = 1.3}, quiet),
              "cpu", {.depends_on_speed = false})
          .value();
  EXPECT_EQ(more.factor, 1);
  EXPECT_FALSE(more.factor_p.has_value());
  EXPECT_FALSE(more.AreAllAlike());
  EXPECT_TRUE(inference::IsChange(more.total.verdict));
  EXPECT_FALSE(more.changes.empty());
}

TEST(CompareTest, OnlyTimesOnACpuDependOnSpeed) {
  for (const char* name : {"cpu", "wall", "branch-wall"}) {
    EXPECT_TRUE(CompareOptionsFor({.name = name}).depends_on_speed) << name;
  }
  for (const char* name : {"off-cpu", "to-idle", "cpu-idle", "calls", "allocated", "page-faults",
                           "disk-read", "context-switches"}) {
    EXPECT_FALSE(CompareOptionsFor({.name = name}).depends_on_speed) << name;
  }
  EXPECT_EQ(CompareOptionsFor({.name = "calls"}).least_of_total, 0);
  EXPECT_GT(CompareOptionsFor({.name = "calls", .per_sample = 9}).least_of_total, 0);
  EXPECT_GT(CompareOptionsFor({.name = "page-faults"}).least_of_total, 0);
}

TEST(CompareTest, OneRunASideIsTooLittleData) {
  std::mt19937_64 random(58);
  const Program program = RandomProgram(random);
  const std::vector<Tree> many = Runs(program, 5, random);
  const std::vector<Tree> one = Runs(program, 1, random, {.all = 10});
  for (const auto& comparison :
       {Compare(many, one, "cpu"), Compare(one, many, "cpu"), Compare(one, one, "cpu")}) {
    EXPECT_FALSE(comparison->is_enough);
    EXPECT_TRUE(comparison->changes.empty());
    EXPECT_FALSE(comparison->factor_p.has_value());
    EXPECT_GT(comparison->total.before, 0);
    EXPECT_FALSE(inference::IsChange(comparison->total.verdict));
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

TEST(CompareTest, ExactCountsOfUnchangedPathsStayExactWhereMostChanged) {
  // A case of the reviewers: everything is called twice as often, except main.
  const Exact before = {{{"main"}, 1}, {{"main", "a"}, 100}, {{"main", "b"}, 100}};
  const Exact after = {{{"main"}, 1}, {{"main", "a"}, 200}, {{"main", "b"}, 200}};
  const Comparison comparison = Compare(ExactRuns({before, before}), ExactRuns({after, after}),
                                        "calls", CompareOptionsFor({.name = "calls"}))
                                    .value();
  EXPECT_EQ(comparison.factor, 1);
  EXPECT_EQ(ToldOf(comparison),
            (Told{{{"main", "a"}, ValueKind::kSelf}, {{"main", "b"}, ValueKind::kSelf}}));
  EXPECT_EQ(comparison.total.before, 201);
  EXPECT_EQ(comparison.total.after, 401);
  EXPECT_EQ(comparison.total.p, 0);
  EXPECT_TRUE(comparison.HasIncrease());
}

TEST(CompareTest, OneMoreCallAmongMillionsIsReported) {
  const Exact before = {{{"main"}, 1}, {{"main", "f"}, 5'000'000}, {{"main", "g"}, 62}};
  Exact after = before;
  after[{"main", "g"}] = 63;
  const Comparison comparison = Compare(ExactRuns({before, before}), ExactRuns({after, after}),
                                        "calls", CompareOptionsFor({.name = "calls"}))
                                    .value();
  EXPECT_EQ(ToldOf(comparison), (Told{{{"main", "g"}, ValueKind::kSelf}}));
  EXPECT_EQ(comparison.changes.front().before, 62);
  EXPECT_EQ(comparison.changes.front().after, 63);
}

// Compares bytes run by run, and their sums over runs.
void ExpectBytesChanged(const std::vector<Exact>& before, const std::vector<Exact>& after,
                        const Told& expected) {
  const Metric bytes = {.name = "calls", .unit = Unit::kBytes};
  const CompareOptions options = CompareOptionsFor({.name = "allocated", .unit = bytes.unit});
  const std::vector<Tree> old_runs = ExactRuns(before);
  const std::vector<Tree> new_runs = ExactRuns(after);
  EXPECT_EQ(ToldOf(Compare(old_runs, new_runs, "calls", options).value()), expected);
  const Tree old_sum = Add(old_runs).value().tree;
  const Tree new_sum = Add(new_runs).value().tree;
  EXPECT_EQ(ToldOf(Compare(Difference(old_sum, new_sum).value().tree, "calls", options).value()),
            expected);
}

TEST(CompareTest, ReportsSmallChangesOfBytesThatAreTheSameInAllRuns) {
  const Exact before = {{{"main", "f"}, 320'003}, {{"main", "g"}, 64'001}};
  Exact after = before;
  after[{"main", "f"}] = 325'003;  // 1.6 % of the path, 1.3 % of the whole
  const Told f = {{{"main", "f"}, ValueKind::kSelf}};
  ExpectBytesChanged({before, before, before}, {after, after, after}, f);
  // For example the length of the program's name.
  after[{"main", "f"}] = before.at({"main", "f"}) + 3;
  ExpectBytesChanged({before, before, before}, {after, after, after}, {});
  // Bytes that vary from run to run need the same margin as all other values.
  Exact other = before;
  other[{"main", "f"}] += 1;
  after[{"main", "f"}] = 325'003;
  ExpectBytesChanged({before, other, before}, {after, after, after}, {});
}

TEST(CompareTest, ReportsVanishedAndNewPaths) {
  const Exact before = {{{"main"}, 1000}, {{"main", "old"}, 100}};
  const Exact after = {{{"main"}, 1000}, {{"main", "new"}, 100}};
  const Comparison comparison =
      Compare(ExactRuns({before, before}), ExactRuns({after, after}), "calls").value();
  EXPECT_EQ(ToldOf(comparison),
            (Told{{{"main", "old"}, ValueKind::kSelf}, {{"main", "new"}, ValueKind::kSelf}}));
}

TEST(CompareTest, ReportsAncestorsOnlyForChangesBeyondTheirDescendants) {
  // f explains 90 of the 100 by which main increased: 90 %.
  const Exact base = {
      {{"rest"}, 5000}, {{"main"}, 500}, {{"main", "f"}, 200}, {{"main", "g"}, 300}};
  Exact after = base;
  after[{"main", "f"}] = 290;
  after[{"main", "g"}] = 310;  // 3 % of g: not reported
  EXPECT_EQ(ToldOf(Compare(ExactRuns({base, base}), ExactRuns({after, after}), "calls").value()),
            (Told{{{"main", "f"}, ValueKind::kSelf}}));
  // Now 70 %: main is reported, too; the root's change is main's.
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
  after[{"c"}] = 1'000;   // twice as much, but 0.05 % of the whole
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
  // The self value of large and the inclusive value of the root.
  EXPECT_EQ(Compare(std::vector(10, tree(1)), std::vector(10, tree(19)), "cpu")->tested, 2U);
  EXPECT_EQ(Compare(std::vector(10, tree(1)), std::vector(10, tree(20)), "cpu")->tested, 3U);
  // Always 20 and 25 samples: possible by chance.
  EXPECT_TRUE(Compare(std::vector(2, tree(20)), std::vector(2, tree(25)), "cpu")->changes.empty());
}

TEST(CompareTest, EmptyTreesAreTooLittleData) {
  const Exact nothing = {{{"main"}, 0}};
  const auto none = ExactRuns({nothing, nothing});
  EXPECT_FALSE(Compare(none, none, "calls").value().is_enough);
  const auto dictionary = std::make_shared<Dictionary>();
  RunValues run(1);
  EXPECT_TRUE(run.Add(0, Enter(*dictionary, {"f"}), 19 * kPerSample).has_value());
  const std::vector<Tree> few(5, TreeOf(dictionary, kCpu, std::span(&run, 1)).value());
  EXPECT_FALSE(Compare(few, few, "cpu").value().is_enough);
}

TEST(CompareTest, SumsOverRunsAreTestedAsMeasured) {
  std::mt19937_64 random(59);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  int found = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Program program = RandomProgram(random);
    const Tree before = Add(Runs(program, 10, random, {}, quiet)).value().tree;
    const Tree after = Add(Runs(program, 10, random, {.small = 1.5}, quiet)).value().tree;
    const MeanTree difference = Difference(before, after).value().tree;
    const Comparison comparison = Compare(difference, "cpu").value();
    EXPECT_TRUE(comparison.is_enough);
    EXPECT_NEAR(comparison.factor, 1, 0.03);
    EXPECT_FALSE(comparison.factor_p.has_value());
    found +=
        ToldOf(comparison) == Told{{NamesOf(*program.dictionary, program.small), ValueKind::kSelf}}
            ? 1
            : 0;
  }
  EXPECT_GE(found, 47);
}

TEST(CompareTest, SumsOverRunsKeepWhatAllPathsHaveInCommon) {
  std::mt19937_64 random(63);
  const Noise quiet = {.machine = 0.01, .path = 0.01};
  const Program program = RandomProgram(random);
  const Tree before = Add(Runs(program, 10, random, {}, quiet)).value().tree;
  const Tree after = Add(Runs(program, 10, random, {.all = 1.2}, quiet)).value().tree;
  const Comparison comparison = Compare(Difference(before, after).value().tree, "cpu").value();
  EXPECT_NEAR(comparison.factor, 1.2, 0.03);
  EXPECT_TRUE(inference::IsChange(comparison.total.verdict));
  EXPECT_TRUE(comparison.HasIncrease());
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
