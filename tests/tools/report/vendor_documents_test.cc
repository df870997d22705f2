#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/html.h"
#include "tests/tools/analysis/vendor_fleet.h"
#include "tests/tools/report/page_check.h"
#include "tools/report/trend_text.h"
#include "tools/report/vendor_csv.h"
#include "tools/report/vendor_page.h"
#include "tools/report/vendor_text.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::report {
namespace {

using analysis::VendorRows;
using analysis::VersionFleet;
using analysis::ZlibReport;
using stats::Metric;
using stats::StatRow;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Rows = std::vector<StatRow>;

std::string Page(const analysis::VendorReport& report, bool synthetic = false) {
  return VendorPage({.report = &report,
                     .facts = {{"Catalogue", "snapshot 7, published 2026-11-21 03:10 UTC"}},
                     .synthetic = synthetic});
}

TEST(VendorDocumentsTest, BeginsWithTheSummaryForDecisionMakers) {
  const analysis::VendorReport report = ZlibReport(analysis::GroupBy::kModule);
  const std::string sentence = VendorSentence(report, {.utf8 = true});
  EXPECT_THAT(sentence,
              ::testing::MatchesRegex("1 regression: z_flate is (1\\.[89]|2\\.[012]) × slower "
                                      "since 2\\.0, ≥ .* in the field; biggest lever: "
                                      "z_flate, 7. %"));
  const std::string page = Page(report);
  EXPECT_LT(page.find("<p class=\"lead\">" + draw::EscapeHtml(sentence) + ".</p>"),
            page.find("<h2"));
  // Statistics are folded: no visible table contains them.
  EXPECT_GT(page.find(">Delta</th>"), page.find("<details>"));
}

TEST(VendorDocumentsTest, WithoutAnOlderVersionThereAreCostsButNoChanges) {
  VersionFleet fleet(81);
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kModule);
  builder.Begin({.soname = "libz.so.1", .versions = {"2.0"}, .before = "", .after = "2.0"});
  builder.Add(VendorRows(fleet, "f", 12, 14));
  const analysis::VendorReport report = builder.Finish();
  EXPECT_THAT(VendorText(report, {}), HasSubstr("nothing to compare with"));
  EXPECT_THAT(VendorSentence(report, {}), HasSubstr("Nothing to compare with an older version"));
  EXPECT_THAT(PageProblems(Page(report)), IsEmpty());
}

TEST(VendorDocumentsTest, TrendsAreWordsLinesAndPictures) {
  const analysis::VendorApi api = ZlibReport(analysis::GroupBy::kModule).apis[0];
  EXPECT_THAT(TrendWords(api.versions, "versions", Metric::kWallTime, {}),
              HasSubstr("2 versions from 1.0 to 2.0: 1"));
  EXPECT_EQ(TrendLine(api.weeks, {.utf8 = true}).size(), 8 * std::string("█").size());
  EXPECT_EQ(TrendSvg({}, "weeks", Metric::kWallTime), "");
  EXPECT_EQ(TrendLine({}, {}), "");
}

TEST(VendorDocumentsTest, ThePageIsTheGoldenOne) {
  const std::string page = Page(ZlibReport(analysis::GroupBy::kBoth), true);
  EXPECT_EQ(page, Golden("vendor_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("SYNTHETIC"));
  EXPECT_THAT(Page(ZlibReport(analysis::GroupBy::kBoth)), Not(HasSubstr("SYNTHETIC")));
}

TEST(VendorDocumentsTest, TheTextIsTheGoldenOne) {
  const std::string text = VendorText(ZlibReport(analysis::GroupBy::kBoth), {.utf8 = true});
  EXPECT_EQ(text, Golden("vendor_report.golden.txt", text));
}

TEST(VendorDocumentsTest, TheTableForSpreadsheetsIsTheGoldenOne) {
  const std::string csv =
      VendorCsv(ZlibReport(analysis::GroupBy::kModule), {.source = "catalogue",
                                                         .snapshot = 7,
                                                         .published = "2026-11-21 03:10 UTC",
                                                         .synthetic = true});
  EXPECT_EQ(csv, Golden("vendor_report.golden.csv", csv));
}

TEST(VendorDocumentsTest, TheTableOfGroupsForSpreadsheetsIsTheGoldenOne) {
  const std::string csv =
      VendorGroupCsv(ZlibReport(analysis::GroupBy::kBoth), {.source = "catalogue",
                                                            .snapshot = 7,
                                                            .published = "2026-11-21 03:10 UTC",
                                                            .synthetic = true});
  EXPECT_EQ(csv, Golden("vendor_groups.golden.csv", csv));
}

// One function's calls are counted but not timed, the other has few timed calls.
TEST(VendorDocumentsTest, GroupsStateNoTimesThatWereNotMeasured) {
  StatRow counted;
  counted.key.api = {"libz.so.1", "1.0", "00ff", "counted", ""};
  counted.key.metric = Metric::kCallsPerRun;
  StatRow timed = counted;
  timed.key.api.symbol = "timed";
  timed.key.metric = Metric::kWallTime;
  counted.histogram.Add(5);
  for (int i = 0; i < 10; ++i) timed.histogram.Add(2048);
  for (StatRow* row : {&counted, &timed}) {
    row->scalars = stats::ScalarsOf(row->histogram);
    row->weights = stats::WeightsOf(row->histogram);
    row->bounded = stats::BoundedSumsOf(row->histogram);
  }
  for (const stats::Whose whose : {stats::Whose::kField, stats::Whose::kOwn}) {
    analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kHeader, whose);
    builder.Begin({.soname = "libz.so.1", .versions = {"1.0"}});
    builder.Add(Rows{counted, timed});
    const analysis::VendorReport report =
        builder.Finish({{"counted", "counted.h"}, {"timed", "timed.h"}});
    // P50, P95 and P99 after SHARE; ten calls determine only the median.
    EXPECT_THAT(VendorText(report, {}), AllOf(ContainsRegex("timed.h .* %  2.0 us +-? +-? +"),
                                              ContainsRegex("counted.h +1 +5 +- +[0-9]+ % +- +")));
    EXPECT_THAT(Page(report), HasSubstr("Times were not measured."));
    const std::string csv = VendorGroupCsv(report, {});
    EXPECT_THAT(csv, HasSubstr("\r\ncounted.h,,1,0,5,,,,,0,,,,,,,,,,,,,,,,"));
    EXPECT_THAT(csv, HasSubstr(R"(,"2048 1","2048 10",)"));
  }
}

TEST(VendorDocumentsTest, HostileNamesStayText) {
  VersionFleet fleet(82);
  analysis::VendorReportBuilder builder(kEvil, analysis::GroupBy::kBoth);
  builder.Begin({.soname = kEvil, .versions = {"1.0", kEvil}, .before = "1.0", .after = kEvil});
  Rows rows = VendorRows(fleet, kEvil, 12, 14);
  for (StatRow& row : rows) {
    row.key.api.soname = kEvil;
    row.key.api.symbol_version = kEvil;
    if (row.key.api.package_version == "2.0") row.key.api.package_version = kEvil;
  }
  builder.Add(rows);
  const analysis::VendorReport report = builder.Finish();
  EXPECT_EQ(analysis::WithChange(report, inference::Verdict::kMore).size(), 1U);
  const std::string page = Page(report);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                          HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;"),
                          HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
  EXPECT_THAT(VendorCsv(report, {}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\"\"")));
  EXPECT_THAT(VendorGroupCsv(report, {}), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\"\"")));
}

TEST(VendorDocumentsTest, NamesWaitingFunctionsSeparately) {
  const analysis::VendorReport report = analysis::ReportWithAWaitingFunction();
  const std::string line = "waiting: 1 function set apart, since waiting is not a cost: poll\n";
  EXPECT_THAT(VendorText(report, {}), HasSubstr(line));
  EXPECT_THAT(Page(report), HasSubstr("waiting: 1 function set apart"));
  EXPECT_THAT(VendorCsv(report, {}), Not(HasSubstr("poll")));
  // C++ functions by their short names, overloads combined.
  EXPECT_EQ(WaitingText({"_ZNSt6thread4joinEv", "poll"}),
            "waiting: 2 functions set apart, since waiting is not a cost: poll, "
            "std::thread::join");
}

TEST(VendorDocumentsTest, ManyApisAreCutAndCounted) {
  VersionFleet fleet(83);
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kNamespace);
  builder.Begin(analysis::kLibrary);
  for (std::size_t i = 0; i < kMaxPageApis + 2; ++i) {
    builder.Add(Rows{fleet.Row({.symbol = "f" + std::to_string(i), .machines = 1})});
  }
  const analysis::VendorReport report = builder.Finish();
  const std::string page = Page(report);
  EXPECT_THAT(page, HasSubstr("400 of 402 APIs"));
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"api400\""), Not(HasSubstr("id=\"api401\""))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), HasSubstr("(40 of 402 APIs; all: --csv)"));
}

TEST(VendorDocumentsTest, AnEmptyReportIsAPageToo) {
  analysis::VendorReportBuilder builder("libz.so.1", analysis::GroupBy::kModule);
  builder.Begin(analysis::kLibrary);
  const analysis::VendorReport report = builder.Finish();
  EXPECT_THAT(PageProblems(Page(report)), IsEmpty());
  EXPECT_THAT(VendorText(report, {}), HasSubstr("libz.so.1: 0 APIs"));
}

}  // namespace
}  // namespace fieldcost::report
