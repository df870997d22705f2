#include "tools/report/tree/tree_diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/trees.h"

namespace fieldcost::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::WrittenTree;

const tree::Metric kWall{.name = "wall"};

constexpr auto kAlternated = RunOrder::kAlternated;
constexpr auto kSeparate = RunOrder::kSeparate;

tree::Comparison Changed(const tree::Tree& tree, double after = 1500) {
  tree::Comparison comparison{.dictionary = tree.dictionary, .is_enough = true, .tested = 12};
  comparison.changes.push_back(
      {.path = tree::PathId{2}, .before = 1000, .after = after, .q = 0.001});
  comparison.changes.push_back({.path = tree::PathId{1},
                                .kind = tree::ValueKind::kInclusive,
                                .before = 100,
                                .after = 0,
                                .q = 0.02});
  return comparison;
}

tree::TotalChange Total(double before, double after) {
  return {.before = before, .after = after, .p = 0.001, .verdict = inference::Verdict::kMore};
}

TEST(TreeDiffTextTest, TheSentenceNamesTheFirstPath) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  EXPECT_EQ(CompareSentence(Changed(tree), kWall, kAlternated, {}),
            "slow takes 50 % more time; 1 path costs more, 1 less (wall, 12 values compared)");
  EXPECT_THAT(CompareSentence(Changed(tree, 3400), kWall, kAlternated, {}),
              StartsWith("slow is 3.4 x slower; "));
  EXPECT_EQ(CompareSentence({.is_enough = true, .tested = 9}, kWall, kAlternated, {}),
            "No significant changes (wall, 9 values compared)");
  EXPECT_THAT(CompareSentence({}, kWall, kAlternated, {}), HasSubstr("Too little data"));
}

TEST(TreeDiffTextTest, AnIncreaseIsNamedBeforeGreaterDecreases) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Comparison comparison = Changed(tree);
  std::swap(comparison.changes[0], comparison.changes[1]);
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}), StartsWith("slow takes 50 %"));
  comparison.changes.pop_back();
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}),
              StartsWith("main with what it calls is gone: 100 ns; 0 paths cost more, 1 less"));
}

TEST(TreeDiffTextTest, AFunctionItselfIsNamedBeforeOneWithWhatItCalls) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Comparison comparison = Changed(tree);
  comparison.changes.insert(comparison.changes.begin(), {.path = tree::PathId{1},
                                                         .kind = tree::ValueKind::kInclusive,
                                                         .before = 2000,
                                                         .after = 3000,
                                                         .q = 0.001});
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}), StartsWith("slow takes 50 %"));
}

TEST(TreeDiffTextTest, ValuesThatNeverVaryAreExact) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Comparison comparison = Changed(tree);
  comparison.changes[0].q = 0;
  comparison.total = {.before = 3, .after = 5, .p = 0, .verdict = inference::Verdict::kMore};
  const tree::Metric calls{.name = "calls", .unit = tree::Unit::kCount};
  EXPECT_THAT(CompareSentence(comparison, calls, kAlternated, {}),
              HasSubstr("the total is 67 % higher (3 -> 5, exact); "));
  EXPECT_THAT(ChangesText(comparison, calls, {}), HasSubstr(" exact  self  main;slow\n"));
}

TEST(TreeDiffTextTest, CountsAndBytesAreNamedExactly) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  const tree::Metric calls{.name = "calls", .unit = tree::Unit::kCount};
  const tree::Metric bytes{.name = "allocated", .unit = tree::Unit::kBytes};
  EXPECT_THAT(CompareSentence(Changed(tree, 1001), calls, kAlternated, {}),
              StartsWith("slow: 1,000 -> 1,001 calls; "));
  EXPECT_THAT(CompareSentence(Changed(tree, 1001), bytes, kAlternated, {.utf8 = true}),
              StartsWith("slow: 1,000 B → 1,001 B allocated; "));
}

TEST(TreeDiffTextTest, OnlyExactWholeBytesAreWrittenToTheByte) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Metric bytes{.name = "allocated", .unit = tree::Unit::kBytes};
  tree::Comparison comparison = Changed(tree);
  comparison.changes[0].before = 1'003'613;
  comparison.changes[0].after = 2'003'613;
  EXPECT_THAT(ChangesText(comparison, bytes, {}), HasSubstr("1,003,613 B  2,003,613 B"));
  bytes.per_sample = 512;
  EXPECT_THAT(ChangesText(comparison, bytes, {}), HasSubstr("980 KiB  1.9 MiB"));
}

TEST(TreeDiffTextTest, TheSentenceStatesWhetherTheTotalChanged) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Comparison comparison = Changed(tree);
  comparison.total = Total(1e6, 1.22e6);
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}),
              HasSubstr("time; the total is 22 % higher (1.00 ms -> 1.22 ms, p 1.0e-03); 1 path"));
  EXPECT_THAT(CompareSentence(comparison, kWall, kSeparate, {}), Not(HasSubstr("machine")))
      << "the other paths cost what they did before";
  comparison.factor = 1.2;
  EXPECT_THAT(CompareSentence(comparison, kWall, kSeparate, {}),
              HasSubstr("either the machine was slower or slow is; 1 path"));
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}), Not(HasSubstr("machine")));
  comparison.changes.clear();
  EXPECT_THAT(CompareSentence(comparison, kWall, kSeparate, {}),
              StartsWith("The total is 22 % higher (1.00 ms -> 1.22 ms, p 1.0e-03): either the "
                         "machine was slower or the program is (wall"));
  comparison.total = Total(1e6, 2e6);
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}),
              StartsWith("The total is 2.0 x as high"));
}

TEST(TreeDiffTextTest, AllPathsAreAlikeOnlyIfTheirRatiosAgree) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  tree::Comparison comparison = Changed(tree);
  comparison.total = Total(1e6, 1.5e6);
  comparison.factor = 1.5;
  comparison.factor_p = 1e-6;
  comparison.alike_p = 0.3;
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}),
              StartsWith("All paths changed alike, by +50.0 % (p 1.0e-06); slow takes 50 % more"));
  comparison.alike_p = 0.001;
  EXPECT_THAT(CompareSentence(comparison, kWall, kAlternated, {}), Not(HasSubstr("alike")));
}

TEST(TreeDiffTextTest, EachChangeHasALine) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  EXPECT_EQ(ChangesText(Changed(tree), kWall, {}),
            "    OLD      NEW  RATIO        Q        PATH\n"
            "1.00 us  1.50 us   1.50  1.0e-03  self  main;slow\n"
            " 100 ns     0 ns   gone  2.0e-02  incl  main\n");
  EXPECT_EQ(ChangesText({}, kWall, {}), "");
  EXPECT_THAT(ChangesText(Changed(tree), kWall, {}, 1),
              AllOf(HasSubstr("main;slow\n(1 more: --all)\n"), Not(HasSubstr("gone"))));
}

TEST(TreeDiffTextTest, CostsHaveTheDigitsThatTheirDifferenceNeeds) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  EXPECT_THAT(ChangesText(Changed(tree, 1070), kWall, {}), HasSubstr("1.000 us  1.070 us   1.07"));
}

TEST(TreeDiffTextTest, MarksFindTheirNodesInAnotherDictionary) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  const tree::Tree other = WrittenTree({{{"main;fast", 9}, {"main;slow", 5}}});
  const auto marks = MarksOf(Changed(tree), analysis::TopDown(tree::Average(other).value(), 0));
  EXPECT_THAT(marks, ElementsAre("", "[incl gone]", "", "[self 1.50]"));
}

TEST(TreeDiffTextTest, HostileNamesSteerNothing) {
  const tree::Tree tree = WrittenTree({{{"main;\x1b[2J", 5}}});
  EXPECT_THAT(ChangesText(Changed(tree), kWall, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ChangesCsv(Changed(tree)), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fieldcost::report
