#include "tools/report/tree/tree_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/draw/numbers.h"
#include "common/tree/algebra.h"
#include "tests/tools/analysis/trees.h"
#include "tests/tools/report/page_check.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {
namespace {

namespace json = boost::json;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WrittenRun;
using testing::WrittenTree;

constexpr char kEndsScript[] = "</script><script>alert(1)</script>";

tree::MeanTree Mean(const std::vector<WrittenRun>& runs) {
  return tree::Average(WrittenTree(runs)).value();
}

std::string Page(const tree::MeanTree& tree) {
  return TreePageHtml({.tree = tree, .untrusted_operand = "a.fct", .untrusted_file = "a.fct"});
}

// The content between the start tag that contains `tag` and its end tag, for each such element.
std::vector<json::value> DataOf(const std::string& page, const std::string& tag) {
  std::vector<json::value> found;
  for (std::size_t at = page.find(tag); at != std::string::npos; at = page.find(tag, at + 1)) {
    const std::size_t begin = page.find('>', at) + 1;
    found.push_back(json::parse(page.substr(begin, page.find("</script>", begin) - begin)));
  }
  return found;
}

json::object TreeOf(const std::string& page) {
  return DataOf(page, "<script type=\"application/json\" id=\"tree\"").at(0).as_object();
}

std::string NumberText(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

std::vector<std::string> PathsOf(const json::object& tree) {
  std::vector<std::string> paths = {""};
  const json::array& names = tree.at("names").as_array();
  for (std::size_t i = 1; i < tree.at("parent").as_array().size(); ++i) {
    const auto parent = tree.at("parent").at(i).to_number<std::size_t>();
    const auto frame = tree.at("frame").at(i).to_number<std::size_t>();
    paths.push_back(paths.at(parent) + ";" + std::string(names.at(frame - 1).as_string()));
  }
  return paths;
}

// Values other than 0, keyed by path.
std::map<std::string, std::string> ValuesOf(const json::object& tree, const std::string& side) {
  std::map<std::string, std::string> values;
  const std::vector<std::string> paths = PathsOf(tree);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string value = NumberText(tree.at("metrics").at(0).at(side).at(i));
    if (value != "0") values[paths[i]] = value;
  }
  return values;
}

std::map<std::string, std::string> ValuesOf(const analysis::TreeView& view, bool before) {
  std::map<std::string, std::string> values;
  std::vector<std::string> paths = {""};
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const analysis::ViewNode& node = view.nodes[i];
    if (i > 0) paths.push_back(paths[node.parent] + ";" + analysis::NameOf(view.frame(node)));
    const stats::Uint128 value = before ? node.self.before : node.self.after;
    if (value != 0) values[paths[i]] = draw::Decimal(value);
  }
  return values;
}

TEST(TreePageTest, NeedsNothingAndRunsOnlyWhatItsPolicyLetsThrough) {
  EXPECT_EQ(ScriptedPageProblems(Page(Mean({{{"main;a", 600}, {"main", 100}}}))), "");
}

TEST(TreePageTest, ItsValuesAreThoseOfTheTree) {
  const tree::MeanTree tree =
      Mean({{{"main;a", 600}, {"main;b;a", 300}, {"main", 100}}, {{"main;b", 7}}});
  const json::object data = TreeOf(Page(tree));
  EXPECT_EQ(ValuesOf(data, "self"), ValuesOf(analysis::TopDown(tree, 0), false));
  EXPECT_EQ(data.at("denominator"), "2");
  EXPECT_EQ(data.at("runs"), 2);
  EXPECT_FALSE(data.at("difference").as_bool());
  EXPECT_FALSE(data.contains("edges"));
  for (std::size_t i = 1; i < data.at("parent").as_array().size(); ++i) {
    EXPECT_LT(data.at("parent").at(i).to_number<std::size_t>(), i);
  }
}

TEST(TreePageTest, SumsThatADoubleDoesNotHoldAreTexts) {
  const json::object data =
      TreeOf(Page(Mean({{{"main;a", (std::uint64_t{1} << 53) + 1}, {"main", 2}}})));
  EXPECT_TRUE(data.at("metrics").at(0).at("big").as_bool());
  EXPECT_EQ(ValuesOf(data, "self").at(";main;a"), "9007199254740993");
  const json::object small = TreeOf(Page(Mean({{{"main;a", (std::uint64_t{1} << 53) - 1}}})));
  EXPECT_FALSE(small.at("metrics").at(0).at("big").as_bool());
}

TEST(TreePageTest, HostileNamesStayText) {
  const std::vector<std::string> evil = {kEndsScript, "<!--<script>", "]]>&amp;\"\\", kEvil,
                                         "\xff\xfe</SCRIPT >"};
  WrittenRun run;
  for (const std::string& name : evil) run.emplace_back("main;" + name, 5);
  const tree::MeanTree tree = Mean({run});
  const std::string page = TreePageHtml({.tree = tree,
                                         .untrusted_operand = kEndsScript,
                                         .untrusted_file = kEndsScript,
                                         .untrusted_remarks = {kEndsScript}});
  EXPECT_EQ(ScriptedPageProblems(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  const json::object data = TreeOf(page);
  EXPECT_EQ(data.at("operand"), kEndsScript);
  EXPECT_TRUE(ValuesOf(data, "self").contains(std::string(";main;") + kEndsScript));
  EXPECT_TRUE(ValuesOf(data, "self").contains(";main;<!--<script>"));
}

TEST(TreePageTest, ADifferenceHasBothSidesAndWhatIsCertain) {
  const tree::Tree before = WrittenTree({{{"main;old", 40}, {"main;slow", 10}}});
  const tree::Tree after = WrittenTree({{{"main;new", 60}, {"main;slow", 40}}});
  const tree::MeanTree tree = tree::Difference(before, after).value().tree;
  tree::Comparison comparison{.dictionary = tree.dictionary, .is_enough = true};
  const auto main = tree.paths().Find(tree::kRootPath, tree.paths().frame(tree::PathId(1)));
  comparison.changes.push_back({.path = *main, .before = 50, .after = 100});
  const std::string page = TreePageHtml(
      {.tree = tree, .untrusted_operand = "old a.fct, new b.fct", .comparisons = {comparison}});
  EXPECT_EQ(ScriptedPageProblems(page), "");
  const json::object data = TreeOf(page);
  EXPECT_TRUE(data.at("difference").as_bool());
  const analysis::TreeView view = analysis::TopDown(tree, 0);
  EXPECT_EQ(ValuesOf(data, "self"), ValuesOf(view, false));
  EXPECT_EQ(ValuesOf(data, "before"), ValuesOf(view, true));
  const json::array& certain = data.at("metrics").at(0).at("certain").as_array();
  ASSERT_EQ(certain.size(), 2U);
  EXPECT_EQ(PathsOf(data).at(certain[0].to_number<std::size_t>()), ";main");
  EXPECT_EQ(certain[1], "[self 2.00]");
  EXPECT_THAT(page, HasSubstr("not certain"));
}

TEST(TreePageTest, BinsAreStepsFromNodeToNode) {
  const tree::MeanTree tree = Mean({{{"main;a", 600}, {"main;b", 300}, {"main", 100}}});
  Timeline timeline{.edges_ns = {5, 10, std::uint64_t{1} << 60}, .bins = {{{}, {}}}};
  std::map<std::string, std::uint64_t> left = {{";main;a", 600}, {";main;b", 300}, {";main", 100}};
  for (std::uint32_t path = 1; path < tree.paths().size(); ++path) {
    const auto value = static_cast<std::uint64_t>(tree.values[0].self[path].after.sum);
    timeline.bins[0][path % 2].emplace_back(path, value);
  }
  const std::string page = TreePageHtml({.tree = tree,
                                         .untrusted_operand = "a.fct",
                                         .untrusted_file = "a.fct",
                                         .timeline = timeline});
  EXPECT_EQ(ScriptedPageProblems(page), "");
  const json::object data = TreeOf(page);
  EXPECT_THAT(data.at("edges").as_array(), ElementsAre("5", "10", "1152921504606846976"));
  const auto bins = DataOf(page, "class=\"bins\" data-metric=\"0\"");
  ASSERT_EQ(bins.size(), 1U);
  const std::vector<std::string> paths = PathsOf(data);
  for (const json::value& bin : bins[0].as_array()) {
    std::size_t node = 0;
    for (std::size_t i = 0; i < bin.as_array().size(); i += 2) {
      node += bin.at(i).to_number<std::size_t>();
      EXPECT_EQ(left.at(paths.at(node)), bin.at(i + 1).to_number<std::uint64_t>());
      left.erase(paths.at(node));
    }
  }
  EXPECT_TRUE(left.empty());
}

TEST(TreePageTest, WithoutScriptsThePictureIsThere) {
  const std::string page = Page(Mean({{{"main;a", 600}, {"main", 100}}}));
  const std::size_t begin = page.find("<noscript>");
  const std::string still = page.substr(begin, page.find("</noscript>") - begin);
  EXPECT_THAT(still, HasSubstr("<title>a: 600 ns, 85.7 %; itself 600 ns</title>"));
}

TEST(TreePageTest, OfAMinimumWhatVariesIsInTheInclusiveSums) {
  const tree::Tree runs =
      WrittenTree({{{"main;a", 10}, {"main;b", 1}}, {{"main;a", 1}, {"main;b", 10}}});
  const tree::Tree least = tree::Minimum({&runs, 1}).value().tree;
  const json::object data = TreeOf(Page(tree::Average(least).value()));
  const json::array& more = data.at("metrics").at(0).at("more").as_array();
  ASSERT_EQ(more.size(), 2U);
  EXPECT_EQ(PathsOf(data).at(more[0].to_number<std::size_t>()), ";main");
  EXPECT_EQ(more[1], 9);
}

TEST(TreePageTest, DrawsAPageOfAnEmptyTree) {
  EXPECT_EQ(ScriptedPageProblems(Page(Mean({{{"main", 0}}}))), "");
}

}  // namespace
}  // namespace fieldcost::report
