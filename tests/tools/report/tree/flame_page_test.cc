#include "tools/report/tree/flame_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/analysis/trees.h"
#include "tests/tools/report/page_check.h"

namespace fieldcost::report {
namespace {

using analysis::CheckReport;
using inference::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// An API compared by enough calls and machines, unless the verdict is too little data.
analysis::CheckedApi Api(const std::string& symbol, double ratio, Verdict verdict) {
  analysis::CheckedApi api;
  api.key.api.soname = "libz.so.1";
  api.key.api.symbol = symbol;
  const bool compared = verdict != Verdict::kTooLittleData;
  api.comparison.calls = compared ? 5000 : 12;
  api.comparison.machines = compared ? 80 : 3;
  api.comparison.ratio = ratio;
  api.comparison.q = verdict == Verdict::kMore ? 0.001 : 0.7;
  api.comparison.verdict = verdict;
  return api;
}

CheckReport Report() {
  CheckReport report;
  report.apis = {Api("deflate", 2.5, Verdict::kMore),
                 Api("_ZN4Json6Reader5parseEv", 6, Verdict::kMore),
                 Api("gzread", 1.5, Verdict::kMore), Api("inflate", 9, Verdict::kTooLittleData),
                 Api("crc32", 1.0, Verdict::kNone)};
  return report;
}

std::string Page(const testing::WrittenRun& run, const std::string& name = "perf.folded") {
  const tree::Tree tree = testing::WrittenTree({run});
  const analysis::TreeView view = analysis::TopDown(tree::Average(tree).value(), 0);
  const CheckReport report = Report();
  return FlamePage({.view = &view,
                    .report = &report,
                    .untrusted_name = name,
                    .synthetic = name == "perf.folded"});
}

const testing::WrittenRun kStacks = {{"main;compress;libz.so!deflate;longest_match", 400},
                                     {"main;compress;deflate;crc32", 150},
                                     {"main;load;Json::Reader::parse;inflate", 200},
                                     {"main;load;read", 100},
                                     {"main;tiny", 1},
                                     {"other", 349}};

TEST(FlamePageTest, ThePageIsTheGoldenOne) {
  const std::string page = Page(kStacks);
  EXPECT_EQ(page, Golden("flame_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(FlamePageTest, WidthIsWeightAndColourIsTheRatio) {
  const std::string page = Page(kStacks);
  // 1,200 pixels for 1.2 µs; the root is at the top.
  EXPECT_THAT(page, HasSubstr("<rect x=\"0.0\" y=\"0\" width=\"1200.0\" height=\"19\" "
                              "fill=\"#c4c4cc\"><title>all: 100 %, 1.2 µs; itself 0 %</title>"));
  EXPECT_THAT(page,
              HasSubstr("width=\"400.0\" height=\"19\" fill=\"#9bd93c\" class=\"worse\"><title>"
                        "libz.so!deflate: 33 %, 400 ns; itself 0 %; 2.50 × the field, worse "
                        "than the field, q 0.001</title>"));
  EXPECT_THAT(page, HasSubstr("fill=\"#fde725\" class=\"worse\"><title>Json::Reader::parse: "));
  EXPECT_THAT(page,
              HasSubstr("fill=\"#21918c\"><title>crc32: 12 %, 150 ns; itself 12 %; 1.00 × the "
                        "field, "));
  EXPECT_THAT(page,
              HasSubstr("fill=\"#c4c4cc\"><title>inflate: 17 %, 200 ns; itself 17 %; not in the "
                        "catalogue</title>"));
  EXPECT_THAT(page,
              HasSubstr("fill=\"#c4c4cc\"><title>read: 8.3 %, 100 ns; itself 8.3 %; unknown in "
                        "the field</title>"));
}

TEST(FlamePageTest, ItIsReadableWithoutColour) {
  const std::string page = Page(kStacks);
  EXPECT_THAT(page,
              AllOf(HasSubstr(">! 2.5× libz.so!deflate</text>"),
                    HasSubstr(">! 6.0× …::Reader::parse</text>"), HasSubstr(">1.0× crc32</text>"),
                    HasSubstr(">read</text>"), Not(HasSubstr(">tiny</text>"))));
  EXPECT_THAT(page, HasSubstr("2 of 3 APIs that are worse than the field are in this profile, with "
                              "62 % of it."));
  // Ordered by the share of the profile, greatest first.
  EXPECT_LT(page.find(">deflate</span>"), page.find(">Json::Reader::parse()</span>"));
}

TEST(FlamePageTest, RecursionCountsOnceAndWhatIsTooNarrowIsLeftOut) {
  const std::string page = Page({{"main;deflate;deflate", 600}, {"main;a", 599400}});
  EXPECT_THAT(page, HasSubstr("<td class=\"n\" data-label=\"Share\">0.1 %</td>"));
  EXPECT_THAT(Page({{"main;deflate", 1}, {"main;a", 2399}}), Not(HasSubstr("<title>deflate: ")));
}

TEST(FlamePageTest, HostileNamesStayText) {
  const std::string page =
      Page({{std::string("main;") + kEvil, 60}, {"\xff\xfe;\xc2\x9b", 40}}, kEvil);
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b")),
                    HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;"),
                    HasSubstr("\\x1b")));
  std::string readable = page;
  std::ranges::replace_if(
      readable, [](char c) { return c == '\xff' || c == '\xfe'; }, '?');
  EXPECT_THAT(PageProblems(readable), IsEmpty());
}

TEST(FlamePageTest, AnEmptyProfileIsAPageToo) {
  EXPECT_THAT(PageProblems(Page({})), IsEmpty());
  EXPECT_THAT(Page({}), HasSubstr("3 APIs are worse than the field, none in this profile"));
}

}  // namespace
}  // namespace fieldcost::report
