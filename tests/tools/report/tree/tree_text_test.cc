#include "tools/report/tree/tree_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/trees.h"

namespace fieldcost::report {
namespace {

using analysis::TreeView;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WrittenRun;
using testing::WrittenTree;

constexpr std::uint64_t kMs = 1'000'000;

TreeView View(const std::vector<WrittenRun>& runs, const tree::Metric& metric = {.name = "wall"}) {
  return analysis::TopDown(tree::Average(WrittenTree(runs, metric)).value(), 0);
}

TEST(TreeTextTest, IsIndentedAndCountsWhatItLeavesOut) {
  const TreeView view = View({{{"main;run;deflate", 900 * kMs},
                               {"main;run;copy", 99 * kMs},
                               {"main;run;a", kMs / 2},
                               {"main;run;b", kMs / 4},
                               {"main;z", kMs / 4}}});
  EXPECT_EQ(TreeText(view, {}, {}, {}),
            "  SHARE    COST    SELF  FUNCTION\n"
            "100.0 %   1.0 s          main\n"
            "100.0 %   1.0 s            run\n"
            " 90.0 %  900 ms  900 ms      deflate\n"
            "  9.9 %   99 ms   99 ms      copy\n"
            "  0.1 %  750 us              (2 more)\n"
            "  0.0 %  250 us            (1 more)\n");
  EXPECT_EQ(TreeText(view, {}, {.max_depth = 2}, {}),
            "  SHARE    COST  FUNCTION\n"
            "100.0 %   1.0 s  main\n"
            "100.0 %   1.0 s    run\n"
            "100.0 %   1.0 s      (4 more)\n"
            "  0.0 %  250 us    (1 more)\n");
  EXPECT_THAT(TreeText(view, {}, {.least_share = 0}, {}), Not(HasSubstr("more")));
}

TEST(TreeTextTest, LinesOfNothingAreNotShown) {
  // A path with a value only in another metric.
  auto dictionary = std::make_shared<tree::Dictionary>();
  const auto path = [&](tree::PathId caller, const char* name) {
    const auto frame = dictionary->frames.Intern({.function = name});
    return dictionary->paths.Intern(caller, frame.value()).value();
  };
  const tree::PathId main = path(tree::kRootPath, "main");
  tree::RunValues run(2);
  EXPECT_TRUE(run.Add(0, path(main, "a"), kMs).has_value());
  EXPECT_TRUE(run.Add(1, path(main, "waits"), kMs).has_value());
  const tree::Tree both =
      tree::TreeOf(dictionary, {{.name = "wall"}, {.name = "off-cpu"}}, std::vector{run}).value();
  const TreeView view = analysis::TopDown(tree::Average(both).value(), 0);
  EXPECT_EQ(view.nodes.size(), 4U) << "the tree has what costs nothing";
  EXPECT_THAT(TreeText(view, {}, {}, {}), Not(HasSubstr("more)")));
}

TEST(TreeTextTest, CostOutsideTheFunctionsHasItsOwnLine) {
  const TreeView view = View({{{"", 900 * kMs}, {"main", 100 * kMs}}});
  EXPECT_EQ(TreeText(view, {}, {}, {}),
            " SHARE    COST    SELF  FUNCTION\n"
            "10.0 %  100 ms  100 ms  main\n"
            "90.0 %  900 ms  900 ms  (outside these functions)\n");
  EXPECT_EQ(FlatText(view, {}, {}),
            " SHARE    SELF  INCLUSIVE  FUNCTION\n"
            "90.0 %  900 ms     900 ms  (outside these functions)\n"
            "10.0 %  100 ms     100 ms  main\n");
}

TEST(TreeTextTest, CostsAreThoseOfARun) {
  const std::vector<WrittenRun> runs = {{{"main", 1}}, {{"main", 2}}};
  EXPECT_THAT(TreeText(View(runs, {.name = "calls", .unit = tree::Unit::kCount}), {}, {}, {}),
              HasSubstr("100.0 %   1.5   1.5  main\n"));
  EXPECT_THAT(TreeText(View({{{"main", 3072}}}, {.name = "allocated", .unit = tree::Unit::kBytes}),
                       {}, {}, {}),
              HasSubstr(" 3.0 KiB "));
}

TEST(TreeTextTest, TheGreatestCountsAreShown) {
  const stats::Int128 most = UINT64_MAX;
  EXPECT_EQ(CostText(most, 1, tree::Unit::kCount, {}), "18,446,744,073,709,551,615");
  EXPECT_EQ(CostText(-most, 1, tree::Unit::kCount, {}), "-18,446,744,073,709,551,615");
  EXPECT_EQ(CostText(most * 1024, 1024, tree::Unit::kCount, {}), "18,446,744,073,709,551,615");
}

TEST(TreeTextTest, ADifferenceHasBothSides) {
  const auto difference = tree::Difference(
      WrittenTree({{{"main;old", 40 * kMs}, {"main;same", 50 * kMs}, {"main", 10 * kMs}}}),
      WrittenTree({{{"main;new", 30 * kMs}, {"main;same", 60 * kMs}, {"main", 10 * kMs}}}));
  const TreeView view = analysis::TopDown(difference.value().tree, 0);
  EXPECT_EQ(TreeText(view, {}, {}, {}),
            "   OLD     NEW  CHANGE    SELF        FUNCTION\n"
            "100 ms  100 ms    0 ns                main\n"
            " 50 ms   60 ms  +10 ms  +10 ms          same\n"
            " 40 ms    0 ns  -40 ms  -40 ms  gone    old\n"
            "  0 ns   30 ms  +30 ms  +30 ms  new     new\n");
}

TEST(TreeTextTest, MarkedNodesAreShownHoweverSmall) {
  const TreeView view = View({{{"main;big", 1000 * kMs}, {"main;small", 1}}});
  std::vector<std::string> marked(view.nodes.size());
  marked[3] = "slower\x1b[31m";
  EXPECT_THAT(TreeText(view, marked, {}, {}), HasSubstr("small  slower\\x1b[31m\n"));
}

TEST(TreeTextTest, AFlatTableIsSortedBySelf) {
  const TreeView flat = analysis::Flat(
      tree::Average(WrittenTree({{{"main;run;deflate", 6}, {"main;run", 3}, {"main", 1}}})).value(),
      0);
  EXPECT_EQ(FlatText(flat, {.max_rows = 2}, {}),
            " SHARE  SELF  INCLUSIVE  FUNCTION\n"
            "60.0 %  6 ns       6 ns  deflate\n"
            "30.0 %  3 ns       9 ns  run\n"
            "(2 of 3 functions; all: --all)\n");
}

TEST(TreeTextTest, CalleesHaveTheirSharesOfTheirCaller) {
  const tree::MeanTree mean = tree::Average(WrittenTree({{{"main;run;deflate;copy", 60},
                                                          {"main;run;copy", 20},
                                                          {"main;run", 20},
                                                          {"main", 900}}}))
                                  .value();
  const TreeView callees = analysis::CalleesOf(mean, 0, "run").value();
  EXPECT_EQ(CalleesText(callees, {}, {}),
            "  SHARE  INCLUSIVE   SELF  FUNCTION\n"
            "100.0 %     100 ns  20 ns  run\n"
            " 80.0 %      80 ns  80 ns    copy\n"
            " 60.0 %      60 ns   0 ns    deflate\n");
  EXPECT_EQ(CalleesText(callees, {.max_rows = 1}, {}),
            "  SHARE  INCLUSIVE   SELF  FUNCTION\n"
            "100.0 %     100 ns  20 ns  run\n"
            " 80.0 %      80 ns  80 ns    copy\n"
            "(2 of 3 functions; all: --all)\n");
}

TEST(TreeTextTest, CsvHasExactSums) {
  const std::string csv = TreeCsv(View({{{"main;z!f", 7}}, {{"main;z!f", 8}}}));
  EXPECT_THAT(csv, HasSubstr("2,1,2,z,f,,,0,wall,ns,0,2,2,0,15,0,15\r\n"));
}

TEST(TreeTextTest, HostileNamesSteerNothing) {
  const TreeView view = View({{{"\x1b[2J<b>\n=1", 7}}});
  for (const std::string& text : {TreeText(view, {}, {}, {}), TreeCsv(view)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace fieldcost::report
