#include "tools/analysis/vendor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/vendor_fleet.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;

using ::testing::IsEmpty;

TEST(VendorReportTest, TotalsCoverAllVersionsMostExpensiveFirst) {
  const VendorReport report = ZlibReport(GroupBy::kModule);
  ASSERT_EQ(report.apis.size(), 4U);
  EXPECT_EQ(report.apis[0].symbol, "z_flate");
  EXPECT_EQ(report.apis[3].symbol, "z_check");
  const VendorApi& api = report.apis[0];
  EXPECT_EQ(api.calls, 2 * 4 * 40 * 40U);
  EXPECT_EQ(api.contributions, 2 * 4 * 40U);
  EXPECT_EQ(api.version, "2.0");
  EXPECT_EQ(api.time.contributions, 4 * 40U);
  double shares = 0;
  for (const VendorApi& one : report.apis) shares += one.share;
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_EQ(report.calls, 4 * *api.calls);
}

TEST(VendorReportTest, ChangesAreFoundAndNothingElseIs) {
  const VendorReport report = ZlibReport(GroupBy::kModule);
  const auto slower = WithChange(report, Verdict::kMore);
  const auto faster = WithChange(report, Verdict::kLess);
  ASSERT_EQ(slower.size(), 1U);
  ASSERT_EQ(faster.size(), 1U);
  EXPECT_EQ(slower[0].first->symbol, "z_flate");
  EXPECT_EQ(faster[0].first->symbol, "z_check");
  EXPECT_EQ(WithChange(report, Verdict::kNone).size(), 2U);
  EXPECT_EQ(report.compared, 4U);
  // The regression is half of the cost of the newest version's calls.
  const VendorApi& api = *slower[0].first;
  EXPECT_NEAR(api.Regression()->ns / (*api.time.mean * 4 * 40 * 40), 0.5, 0.1);
  EXPECT_FALSE(api.Regression()->of_all_runs);
  EXPECT_FALSE(faster[0].first->Regression());
}

TEST(VendorReportTest, GroupsAreModulesNameSpacesOrBoth) {
  const auto names = [](GroupBy by) {
    std::vector<std::string> found;
    for (const VendorGroup& group : ZlibReport(by).groups) found.push_back(NameOf(group));
    return found;
  };
  EXPECT_THAT(names(GroupBy::kModule), ::testing::ElementsAre("libz.so.1"));
  EXPECT_THAT(names(GroupBy::kNamespace), ::testing::ElementsAre("z_", "z::Stream"));
  EXPECT_THAT(names(GroupBy::kBoth),
              ::testing::ElementsAre("libz.so.1, z_", "libz.so.1, z::Stream"));
}

TEST(VendorReportTest, AGroupChangesAsItsExpensiveApisDo) {
  const VendorReport report = ZlibReport(GroupBy::kNamespace);
  const VendorGroup& c = report.groups[0];
  EXPECT_EQ(c.slower, 1U);
  EXPECT_EQ(c.faster, 1U);
  EXPECT_EQ(c.change, Verdict::kMore);  // z_flate accounts for all of its cost
  EXPECT_NEAR(c.ratio, 1.8, 0.25);
  EXPECT_LT(c.ratio_low, c.ratio);
  EXPECT_GT(c.ratio_high, c.ratio);
  const VendorGroup& cxx = report.groups[1];
  EXPECT_EQ(cxx.change, Verdict::kNone);
  EXPECT_EQ(cxx.unchanged, 2U);
  EXPECT_NEAR(cxx.share + c.share, 1, 1e-12);
}

TEST(VendorReportTest, WithoutAnOlderVersionThereIsNothingToCompare) {
  VersionFleet fleet(81);
  VendorReportBuilder builder("libz.so.1", GroupBy::kModule);
  builder.Begin({.soname = "libz.so.1", .versions = {"2.0"}, .before = "", .after = "2.0"});
  builder.Add(VendorRows(fleet, "f", 12, 14));
  const VendorReport report = builder.Finish();
  EXPECT_THAT(report.apis[0].changes, IsEmpty());
  EXPECT_EQ(report.groups[0].change, Verdict::kTooLittleData);
}

TEST(VendorReportTest, TrendsAreByWeekAndByVersion) {
  const VendorApi api = ZlibReport(GroupBy::kModule).apis[0];
  ASSERT_EQ(api.weeks.size(), 8U);
  EXPECT_EQ(api.weeks[0].untrusted_label, "2025-07-31");
  EXPECT_EQ(api.weeks[0].contributions, 40U);
  EXPECT_NEAR(api.weeks[7].cost / api.weeks[0].cost, 2, 0.4);
  ASSERT_EQ(api.versions.size(), 2U);
  EXPECT_EQ(api.versions[1].untrusted_label, "2.0");
}

TEST(VendorReportTest, FunctionsThatWaitAreInNoSum) {
  const VendorReport report = ReportWithAWaitingFunction();
  ASSERT_EQ(report.apis.size(), 1U);
  EXPECT_EQ(report.apis[0].symbol, "read");
  EXPECT_DOUBLE_EQ(report.apis[0].share, 1);
}

}  // namespace
}  // namespace fieldcost::analysis
