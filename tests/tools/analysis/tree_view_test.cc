#include "tools/analysis/tree_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/trees.h"

namespace fieldcost::analysis {
namespace {

using ::testing::ElementsAre;
using testing::WrittenRun;
using testing::WrittenTree;

// "depth name inclusive self" of each node except the root.
std::vector<std::string> Lines(const TreeView& view) {
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    const ViewNode& node = view.nodes[i];
    lines.push_back(fmt::format("{} {} {} {}", node.depth, NameOf(view.frame(node)),
                                static_cast<std::int64_t>(node.inclusive.Change()),
                                static_cast<std::int64_t>(node.self.Change())));
  }
  return lines;
}

const WrittenRun kRun = {{"main;run;deflate", 6}, {"main;run", 1},        {"main;read", 2},
                         {"main;run;copy", 2},    {"main;read;copy", 3},  {"other", 1},
                         {"main;run;zero", 0},    {"main;run;run;run", 4}};

tree::MeanTree Mean(const std::vector<WrittenRun>& runs) {
  return tree::Average(WrittenTree(runs)).value();
}

TEST(TreeViewTest, CallersStandAboveWhatTheyCallTheMostExpensiveFirst) {
  const TreeView view = TopDown(Mean({kRun}), 0);
  EXPECT_THAT(Lines(view),
              ElementsAre("1 main 18 0", "2 run 13 1", "3 deflate 6 6", "3 run 4 0", "4 run 4 4",
                          "3 copy 2 2", "2 read 5 2", "3 copy 3 3", "1 other 1 1"));
  EXPECT_TRUE(view.nodes[0].inclusive.after == 19);
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    EXPECT_LT(view.nodes[i].parent, i);
    EXPECT_EQ(view.nodes[view.nodes[i].parent].depth + 1, view.nodes[i].depth);
  }
}

TEST(TreeViewTest, BottomUpHasEachSelfCostOnceBelowItsFunction) {
  const TreeView view = BottomUp(Mean({kRun}), 0).value();
  EXPECT_THAT(Lines(view),
              ElementsAre("1 deflate 6 0", "2 run 6 0", "3 main 6 6",  //
                          "1 copy 5 0", "2 read 3 0", "3 main 3 3", "2 run 2 0", "3 main 2 2",
                          "1 run 5 0", "2 run 4 0", "3 run 4 0", "4 main 4 4", "2 main 1 1",
                          "1 read 2 0", "2 main 2 2", "1 other 1 1"));
  EXPECT_TRUE(view.nodes[0].inclusive.after == 19);
}

TEST(TreeViewTest, CallersOfAFunctionCountItsRecursionOnce) {
  const TreeView view = CallersOf(Mean({kRun}), 0, "run").value();
  EXPECT_THAT(Lines(view), ElementsAre("1 run 13 0", "2 main 13 13"));
  EXPECT_THAT(Lines(CallersOf(Mean({kRun}), 0, "c?py").value()),
              ElementsAre("1 copy 5 0", "2 read 3 0", "3 main 3 3", "2 run 2 0", "3 main 2 2"));
  const auto none = CallersOf(Mean({kRun}), 0, "sprint");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(TreeViewTest, CalleesOfAFunctionAreThereOnceWithTheirCostInItsCalls) {
  EXPECT_THAT(Lines(CalleesOf(Mean({kRun}), 0, "run").value()),
              ElementsAre("1 run 13 5", "2 deflate 6 6", "2 copy 2 2"));
  const TreeView both = CalleesOf(Mean({kRun}), 0, "r*").value();
  EXPECT_THAT(Lines(both),
              ElementsAre("1 run 13 5", "2 deflate 6 6", "2 copy 2 2", "1 read 5 2", "2 copy 3 3"));
  EXPECT_TRUE(both.nodes[0].inclusive.after == 18);
  const auto none = CalleesOf(Mean({kRun}), 0, "sprint");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(TreeViewTest, RecursionCountsOnceAmongCallees) {
  // x calls itself through f; f is also above x, and calls itself.
  const tree::MeanTree mean = Mean({{{"f;x", 1},
                                     {"f;x;f", 2},
                                     {"f;x;f;g", 4},
                                     {"f;x;f;x", 8},
                                     {"f;x;f;x;f", 16},
                                     {"f;x;f;f;g", 32},
                                     {"f", 64},
                                     {"x", 128}}});
  const TreeView view = CalleesOf(mean, 0, "x").value();
  EXPECT_THAT(Lines(view), ElementsAre("1 x 191 137", "2 f 62 18", "2 g 36 36"));
  EXPECT_TRUE(view.nodes[0].inclusive.after == 191);
  // A function that matches within another one has its own callees.
  const TreeView nested = CalleesOf(mean, 0, "?").value();
  EXPECT_TRUE(nested.nodes[0].inclusive.after == 255);
}

TEST(TreeViewTest, AFlatTableHasEachFunctionOnce) {
  EXPECT_THAT(Lines(Flat(Mean({kRun}), 0)),
              ElementsAre("1 main 18 0", "1 run 13 5", "1 deflate 6 6", "1 copy 5 5", "1 read 5 2",
                          "1 other 1 1"));
}

TEST(TreeViewTest, AModuleMayBeNamedInAGlob) {
  const tree::MeanTree mean = Mean({{{"main;z!copy", 1}, {"main;c!copy", 2}}});
  EXPECT_THAT(Lines(CallersOf(mean, 0, "z!*").value()), ElementsAre("1 z!copy 1 0", "2 main 1 1"));
  EXPECT_FALSE(CallersOf(mean, 0, "z!main").has_value());
}

TEST(TreeViewTest, ADifferenceKeepsVanishedPathsAndMarksTheirSide) {
  const tree::Tree old_tree = WrittenTree({{{"main;old", 4}, {"main;same", 2}}});
  const tree::Tree new_tree =
      WrittenTree({{{"main;new", 1}, {"main;same", 3}}, {{"main;new", 2}, {"main;same", 3}}});
  const TreeView view = TopDown(tree::Difference(old_tree, new_tree).value().tree, 0);
  ASSERT_TRUE(view.IsDifference());
  EXPECT_EQ(view.denominator, 2U);
  EXPECT_THAT(Lines(view), ElementsAre("1 main -3 0", "2 old -8 -8", "2 same 2 2", "2 new 3 3"));
  EXPECT_EQ(view.nodes[2].where, tree::kInBefore);
  EXPECT_EQ(view.nodes[3].where, tree::kInBefore | tree::kInAfter);
  EXPECT_EQ(view.nodes[4].where, tree::kInAfter);
}

TEST(TreeViewTest, NamesHoldEverythingKnown) {
  EXPECT_EQ(NameOf({.module = "libz.so", .function = "deflate"}), "libz.so!deflate");
  EXPECT_EQ(NameOf({.function = "f(int)", .file = "f.cc"}), "f(int) (f.cc)");
  EXPECT_EQ(NameOf({.kind = tree::FrameKind::kUnnamed,
                    .module = "app",
                    .build_id = "\x12\x34\x56\x78\x9a",
                    .offset = 0x12f0}),
            "app+0x12f0 [12345678]");
  EXPECT_EQ(NameOf(tree::SpecialFrame(tree::kKernel)), "[kernel]");
}

}  // namespace
}  // namespace fieldcost::analysis
