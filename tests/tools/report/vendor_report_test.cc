#include "tools/analysis/vendor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "common/draw/html.h"
#include "tests/tools/analysis/version_fleet.h"
#include "tests/tools/report/page_check.h"
#include "tools/report/trend_text.h"
#include "tools/report/vendor_csv.h"
#include "tools/report/vendor_page.h"
#include "tools/report/vendor_text.h"

namespace fieldcost::report {
namespace {

using analysis::VersionFleet;
using stats::Metric;
using stats::StatRow;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Rows = std::vector<StatRow>;

// Two versions and four weeks each of one API; what is published over all weeks, too.
Rows Api(VersionFleet& fleet, const std::string& symbol, double before, double after) {
  Rows rows;
  for (const auto& [version, octaves, first] :
       {std::tuple{"1.0", before, 2900U}, {"2.0", after, 2904U}}) {
    StatRow all;
    stats::ApiSums sums;
    for (std::uint32_t week = first; week < first + 4; ++week) {
      rows.push_back(fleet.Row({.symbol = symbol,
                                .version = version,
                                .octaves = octaves,
                                .machines = 40,
                                .week = week}));
      all.key = rows.back().key;
      sums.Merge(rows.back());
    }
    all.key.week = 0;
    all.histogram = sums.histogram;
    all.scalars = sums.scalars;
    all.weights = sums.weights;
    all.bounded = sums.bounded;
    all.fullest_week = sums.fullest_week;
    rows.push_back(all);
  }
  return rows;
}

const analysis::VendorLibrary kLibrary{
    .soname = "libz.so.1", .versions = {"1.0", "2.0"}, .before = "1.0", .after = "2.0"};

analysis::VendorReport Zlib(analysis::GroupBy by) {
  VersionFleet fleet(80);
  analysis::VendorReportBuilder builder("libz.so.1", by);
  builder.Begin(kLibrary);
  builder.Add(Api(fleet, "z_flate", 14, 15));
  builder.Add(Api(fleet, "z_check", 10, 9));
  builder.Add(Api(fleet, "_ZN1z6Stream4readEv", 12, 12));
  builder.Add(Api(fleet, "_ZN1z6Stream5writeEv", 12, 12));
  return builder.Finish();
}

std::string Page(const analysis::VendorReport& report, bool synthetic = false) {
  return VendorPage({.report = &report,
                     .facts = {{"Catalogue", "snapshot 7, published 2026-11-21 03:10 UTC"}},
                     .synthetic = synthetic});
}

TEST(VendorReportTest, TotalsAreOfAllVersionsAndTheDearestComesFirst) {
  const analysis::VendorReport report = Zlib(analysis::GroupBy::kModule);
  ASSERT_EQ(report.apis.size(), 4U);
  EXPECT_EQ(report.apis[0].symbol, "z_flate");
  EXPECT_EQ(report.apis[3].symbol, "z_check");
  const analysis::VendorApi& api = report.apis[0];
  EXPECT_EQ(api.calls, 2 * 4 * 40 * 40U);
  EXPECT_EQ(api.contributions, 2 * 4 * 40U);
  EXPECT_EQ(api.version, "2.0");
  EXPECT_EQ(api.time.contributions, 4 * 40U);
  double shares = 0;
  for (const analysis::VendorApi& one : report.apis) shares += one.share;
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_EQ(report.calls, 4 * *api.calls);
}

TEST(VendorReportTest, ChangesAreFoundAndNothingElseIs) {
  const analysis::VendorReport report = Zlib(analysis::GroupBy::kModule);
  const auto slower = analysis::WithChange(report, analysis::Change::kMore);
  const auto faster = analysis::WithChange(report, analysis::Change::kLess);
  ASSERT_EQ(slower.size(), 1U);
  ASSERT_EQ(faster.size(), 1U);
  EXPECT_EQ(slower[0].first->symbol, "z_flate");
  EXPECT_EQ(faster[0].first->symbol, "z_check");
  EXPECT_EQ(analysis::WithChange(report, analysis::Change::kNone).size(), 2U);
  EXPECT_EQ(report.compared, 4U);
  // Half of what the newest version's calls cost is the regression.
  const analysis::VendorApi& api = *slower[0].first;
  EXPECT_NEAR(api.Regression()->ns / (*api.time.mean * 4 * 40 * 40), 0.5, 0.1);
  EXPECT_FALSE(api.Regression()->of_all_runs);
  EXPECT_FALSE(faster[0].first->Regression());
}

TEST(VendorReportTest, ItBeginsWithTheSentenceForThoseWhoDecide) {
  const analysis::VendorReport report = Zlib(analysis::GroupBy::kModule);
  const std::string sentence = VendorSentence(report, {.utf8 = true});
  EXPECT_THAT(sentence,
              ::testing::MatchesRegex("1 regression: z_flate is (1\\.[89]|2\\.[012]) × slower "
                                      "since 2\\.0, ≥ .* in the field; biggest lever: "
                                      "z_flate, 7. %"));
  const std::string page = Page(report);
  EXPECT_LT(page.find("<p class=\"lead\">" + draw::EscapeHtml(sentence) + ".</p>"),
            page.find("<h2"));
  // Statistics are folded: they stand in no table of the first view.
  EXPECT_GT(page.find(">Delta</th>"), page.find("<details>"));
}

TEST(VendorReportTest, GroupsAreModulesNameSpacesOrBoth) {
  const auto names = [](analysis::GroupBy by) {
    std::vector<std::string> found;
    for (const analysis::VendorGroup& group : Zlib(by).groups)
      found.push_back(analysis::NameOf(group));
    return found;
  };
  EXPECT_THAT(names(analysis::GroupBy::kModule), ::testing::ElementsAre("libz.so.1"));
  EXPECT_THAT(names(analysis::GroupBy::kNamespace), ::testing::ElementsAre("z_", "z::Stream"));
  EXPECT_THAT(names(analysis::GroupBy::kBoth),
              ::testing::ElementsAre("libz.so.1, z_", "libz.so.1, z::Stream"));
}

TEST(VendorReportTest, AGroupChangesAsItsDearApisDo) {
  const analysis::VendorReport report = Zlib(analysis::GroupBy::kNamespace);
  const analysis::VendorGroup& c = report.groups[0];
  EXPECT_EQ(c.slower, 1U);
  EXPECT_EQ(c.faster, 1U);
  EXPECT_EQ(c.change, analysis::Change::kMore);  // z_flate is all of its cost
  EXPECT_NEAR(c.ratio, 1.8, 0.25);
  EXPECT_LT(c.ratio_low, c.ratio);
  EXPECT_GT(c.ratio_high, c.ratio);
  const analysis::VendorGroup& cxx = report.groups[1];
  EXPECT_EQ(cxx.change, analysis::Change::kNone);
  EXPECT_EQ(cxx.unchanged, 2U);
  EXPECT_NEAR(cxx.share + c.share, 1, 1e-12);
}

TEST(VendorReportTest, WithoutAnOlderVersionThereAreCostsButNoChanges) {
  VersionFleet fleet(81);
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kModule);
  builder.Begin({.soname = "libz.so.1", .versions = {"2.0"}, .before = "", .after = "2.0"});
  builder.Add(Api(fleet, "f", 12, 14));
  const analysis::VendorReport report = builder.Finish();
  EXPECT_THAT(report.apis[0].changes, IsEmpty());
  EXPECT_EQ(report.groups[0].change, analysis::Change::kTooLittleData);
  EXPECT_THAT(VendorText(report, {}), HasSubstr("nothing to compare with"));
  EXPECT_THAT(VendorSentence(report, {}), HasSubstr("Nothing to compare with an older version"));
  EXPECT_THAT(PageProblems(Page(report)), IsEmpty());
}

TEST(VendorReportTest, TrendsAreByWeekAndByVersion) {
  const analysis::VendorApi api = Zlib(analysis::GroupBy::kModule).apis[0];
  ASSERT_EQ(api.weeks.size(), 8U);
  EXPECT_EQ(api.weeks[0].untrusted_label, "2025-07-31");
  EXPECT_EQ(api.weeks[0].contributions, 40U);
  EXPECT_NEAR(api.weeks[7].cost / api.weeks[0].cost, 2, 0.4);
  ASSERT_EQ(api.versions.size(), 2U);
  EXPECT_EQ(api.versions[1].untrusted_label, "2.0");
  EXPECT_THAT(TrendWords(api.versions, "versions", Metric::kWallTime, {}),
              HasSubstr("2 versions from 1.0 to 2.0: 1"));
  EXPECT_EQ(TrendLine(api.weeks, {.utf8 = true}).size(), 8 * std::string("█").size());
  EXPECT_EQ(TrendSvg({}, "weeks", Metric::kWallTime), "");
  EXPECT_EQ(TrendLine({}, {}), "");
}

TEST(VendorReportTest, ThePageIsTheGoldenOne) {
  const std::string page = Page(Zlib(analysis::GroupBy::kBoth), true);
  EXPECT_EQ(page, Golden("vendor_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("SYNTHETIC"));
  EXPECT_THAT(Page(Zlib(analysis::GroupBy::kBoth)), Not(HasSubstr("SYNTHETIC")));
}

TEST(VendorReportTest, TheTextIsTheGoldenOne) {
  const std::string text = VendorText(Zlib(analysis::GroupBy::kBoth), {.utf8 = true});
  EXPECT_EQ(text, Golden("vendor_report.golden.txt", text));
}

TEST(VendorReportTest, TheTableForSpreadsheetsIsTheGoldenOne) {
  const std::string csv =
      VendorCsv(Zlib(analysis::GroupBy::kModule), {.source = "catalogue",
                                                   .snapshot = 7,
                                                   .published = "2026-11-21 03:10 UTC",
                                                   .synthetic = true});
  EXPECT_EQ(csv, Golden("vendor_report.golden.csv", csv));
}

TEST(VendorReportTest, HostileNamesStayText) {
  VersionFleet fleet(82);
  analysis::VendorReportBuilder builder(kEvil, analysis::GroupBy::kBoth);
  builder.Begin({.soname = kEvil, .versions = {"1.0", kEvil}, .before = "1.0", .after = kEvil});
  Rows rows = Api(fleet, kEvil, 12, 14);
  for (StatRow& row : rows) {
    row.key.api.soname = kEvil;
    row.key.api.symbol_version = kEvil;
    if (row.key.api.package_version == "2.0") row.key.api.package_version = kEvil;
  }
  builder.Add(rows);
  const analysis::VendorReport report = builder.Finish();
  EXPECT_EQ(analysis::WithChange(report, analysis::Change::kMore).size(), 1U);
  const std::string page = Page(report);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                          HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;"),
                          HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
  EXPECT_THAT(VendorCsv(report, {}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\"\"")));
}

TEST(VendorReportTest, FunctionsThatWaitAreInNoSum) {
  VersionFleet fleet(84);
  analysis::VendorReportBuilder builder("libc.so.6", analysis::GroupBy::kModule);
  builder.Begin({.soname = "libc.so.6", .versions = {"1.0"}});
  for (const char* symbol : {"poll", "read"}) {
    StatRow row = fleet.Row({.symbol = symbol, .octaves = symbol[0] == 'p' ? 30.0 : 10.0});
    row.key.api.soname = "libc.so.6";
    builder.Add(Rows{row});
  }
  const analysis::VendorReport report = builder.Finish();
  ASSERT_EQ(report.apis.size(), 1U);
  EXPECT_EQ(report.apis[0].symbol, "read");
  EXPECT_DOUBLE_EQ(report.apis[0].share, 1);
  const std::string line = "waiting: 1 function set apart, since the time is no cost: poll\n";
  EXPECT_THAT(VendorText(report, {}), HasSubstr(line));
  EXPECT_THAT(Page(report), HasSubstr("waiting: 1 function set apart"));
  EXPECT_THAT(VendorCsv(report, {}), Not(HasSubstr("poll")));
}

TEST(VendorReportTest, ManyApisAreCutAndCounted) {
  VersionFleet fleet(83);
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kNamespace);
  builder.Begin(kLibrary);
  for (std::size_t i = 0; i < kMaxPageApis + 2; ++i) {
    builder.Add(Rows{fleet.Row({.symbol = "f" + std::to_string(i), .machines = 1})});
  }
  const analysis::VendorReport report = builder.Finish();
  const std::string page = Page(report);
  EXPECT_THAT(page, HasSubstr("400 of 402 APIs"));
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"api400\""), Not(HasSubstr("id=\"api401\""))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), HasSubstr("(40 of 402 APIs; all: --format csv)"));
}

TEST(VendorReportTest, AnEmptyReportIsAPageToo) {
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kModule);
  builder.Begin(kLibrary);
  const analysis::VendorReport report = builder.Finish();
  EXPECT_THAT(PageProblems(Page(report)), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), HasSubstr("libz.so.1: 0 APIs"));
}

}  // namespace
}  // namespace fieldcost::report
