#include "tools/report/tree/diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/trees.h"

namespace fieldcost::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WrittenTree;

const tree::Metric kWall{.name = "wall"};

tree::Comparison Changed(const tree::Tree& tree, double factor) {
  tree::Comparison comparison{.dictionary = tree.dictionary,
                              .is_enough = true,
                              .factor = factor,
                              .factor_p = 0.01,
                              .tested = 12};
  comparison.changes.push_back(
      {.path = tree::PathId{2}, .before = 1000, .after = 1500, .q = 0.001});
  comparison.changes.push_back({.path = tree::PathId{1},
                                .kind = tree::ValueKind::kInclusive,
                                .before = 100,
                                .after = 0,
                                .q = 0.02});
  return comparison;
}

TEST(TreeDiffTextTest, TheSentenceTellsTheFactorApart) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  EXPECT_EQ(CompareSentence(Changed(tree, 1.06), kWall),
            "All paths alike take 6.0 % more; apart from that, 1 path costs more, 1 less (wall, 12 "
            "values compared)");
  EXPECT_THAT(CompareSentence(Changed(tree, 0.9), kWall), HasSubstr("10.0 % less"));
  EXPECT_EQ(CompareSentence(Changed(tree, 1.001), kWall),
            "1 path costs more, 1 less (wall, 12 values compared)");
  EXPECT_EQ(CompareSentence({.is_enough = true}, kWall),
            "No significant changes (wall, 0 values compared)");
  EXPECT_THAT(CompareSentence({}, kWall), HasSubstr("Too little data"));
}

TEST(TreeDiffTextTest, EachChangeHasALine) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  EXPECT_EQ(ChangesText(Changed(tree, 1), kWall, {}),
            "BEFORE   AFTER  RATIO        Q        PATH\n"
            "1.0 us  1.5 us   1.50  1.0e-03  self  main;slow\n"
            "100 ns    0 ns   gone  2.0e-02  incl  main\n");
  EXPECT_EQ(ChangesText({}, kWall, {}), "");
}

TEST(TreeDiffTextTest, MarksFindTheirNodesInAnotherDictionary) {
  const tree::Tree tree = WrittenTree({{{"main;slow", 5}}});
  const tree::Tree other = WrittenTree({{{"main;fast", 9}, {"main;slow", 5}}});
  const auto marks = MarksOf(Changed(tree, 1), analysis::TopDown(tree::Average(other).value(), 0));
  EXPECT_THAT(marks, ElementsAre("", "[incl gone]", "", "[self 1.50]"));
}

TEST(TreeDiffTextTest, HostileNamesSteerNothing) {
  const tree::Tree tree = WrittenTree({{{"main;\x1b[2J", 5}}});
  EXPECT_THAT(ChangesText(Changed(tree, 1), kWall, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ChangesCsv(Changed(tree, 1)), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fieldcost::report
