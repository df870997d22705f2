#include "tools/report/tree/tree_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/tools/analysis/trees.h"
#include "tests/tools/report/page_check.h"

namespace fieldcost::report {
namespace {

using analysis::TreeView;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WrittenRun;
using testing::WrittenTree;

TreeView View(const std::vector<WrittenRun>& runs) {
  return analysis::TopDown(tree::Average(WrittenTree(runs)).value(), 0);
}

// The drawn width of this function's frame; 0 if it is not drawn.
double WidthOf(const std::string& svg, const std::string& name) {
  std::smatch found;
  const std::regex frame("<title>" + name + ": [^<]*</title><rect [^>]*\" width=\"([0-9.]+)\"");
  return std::regex_search(svg, found, frame) ? std::stod(found[1]) : 0;
}

TEST(TreeSvgTest, FramesAreAsWideAsWhatTheyCost) {
  const std::string svg = TreeSvg(View({{{"main;a", 600}, {"main;b", 300}, {"main", 100}}}), {});
  EXPECT_EQ(WidthOf(svg, "main"), 1200);
  EXPECT_EQ(WidthOf(svg, "a"), 720);
  EXPECT_EQ(WidthOf(svg, "b"), 360);
  EXPECT_THAT(svg, HasSubstr("<title>a: 600 ns, 60.0 %; itself 600 ns</title>"));
}

TEST(TreeSvgTest, OmitsFramesThatAreTooNarrow) {
  const std::string svg = TreeSvg(View({{{"main;a", 10'000'000}, {"main;b", 1}}}), {});
  EXPECT_EQ(WidthOf(svg, "b"), 0);
}

TreeView Difference() {
  return analysis::TopDown(
      tree::Difference(WrittenTree({{{"main;old", 40}, {"main;same", 50}, {"main;slow", 10}}}),
                       WrittenTree({{{"main;new", 60}, {"main;same", 50}, {"main;slow", 40}}}))
          .value()
          .tree,
      0);
}

TEST(TreeSvgTest, OfADifferenceWhatVanishedKeepsItsPlace) {
  const TreeView view = Difference();
  const std::string svg = TreeSvg(view, {});
  const double all = 40 + 60 + 50 + 40;
  EXPECT_NEAR(WidthOf(svg, "main"), 1200, 0.1);
  EXPECT_NEAR(WidthOf(svg, "old"), 1200 * 40 / all, 0.1);
  EXPECT_NEAR(WidthOf(svg, "new"), 1200 * 60 / all, 0.1);
  EXPECT_NEAR(WidthOf(svg, "slow"), 1200 * 40 / all, 0.1);
  EXPECT_THAT(svg, HasSubstr("old: 40 ns old, 0 ns new, -40 ns, gone"));
  EXPECT_THAT(svg, HasSubstr("fill=\"url(#gone)\""));
  EXPECT_THAT(svg, HasSubstr("stroke-width"));
  EXPECT_TRUE(WidthsOf(view)[0] == 190);
}

TEST(TreeSvgTest, UncertainChangesAreGreyAndMarked) {
  const TreeView view = Difference();
  const std::string svg = TreeSvg(view, std::vector<bool>(view.nodes.size(), true));
  EXPECT_THAT(svg, HasSubstr("+30 ns, not certain"));
  EXPECT_THAT(svg, Not(HasSubstr("#ff7a59")));
  EXPECT_THAT(TreeSvg(view, {}), HasSubstr("#ff7a59"));
}

TEST(TreeSvgTest, ADocumentFitsTheWindowAndItsTheme) {
  const TreeView view = View({{{"main;a", 5}}});
  const std::string svg = TreeSvg(view, {});
  EXPECT_THAT(svg, HasSubstr("max-width:100%"));
  EXPECT_THAT(svg, HasSubstr("@media (prefers-color-scheme:dark){:root{background:"));
  EXPECT_THAT(TreeSvgInPage(view, {}), Not(HasSubstr("<style")))
      << "the policy of pages forbids styles that it does not know";
}

TEST(TreeSvgTest, HostileNamesStayText) {
  const std::string svg = TreeSvg(View({{{kEvil, 5}}}), {});
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
}

TEST(TreeSvgTest, DrawsAPictureOfAnEmptyTree) {
  EXPECT_THAT(TreeSvg(View({{{"main", 0}}}), {}), HasSubstr("0 ns a run"));
}

}  // namespace
}  // namespace fieldcost::report
