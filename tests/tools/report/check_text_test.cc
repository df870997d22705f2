#include "tools/report/check_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/tools/analysis/check_fleet.h"
#include "tools/report/check_csv.h"

namespace fieldcost::report {
namespace {

using analysis::Api;
using analysis::CheckFleet;
using analysis::Key;
using analysis::SomeApis;
using stats::CostHistogram;
using stats::StatRow;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CheckTextTest, TheOrderOfTheInputDoesNotShow) {
  std::vector<analysis::CheckedApi> apis = SomeApis();
  const analysis::CheckReport report = analysis::Check(apis, stats::Metric::kWallTime, 0);
  std::reverse(apis.begin(), apis.end());
  const analysis::CheckReport reversed = analysis::Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_EQ(CheckCsv(reversed, {}), CheckCsv(report, {}));
  EXPECT_EQ(CheckText(reversed, true, {}), CheckText(report, true, {}));
}

TEST(CheckTextTest, PrintsVerdictsNumbersAndWhatIsMissing) {
  analysis::CheckReport report = analysis::Check(SomeApis(), stats::Metric::kWallTime, 0);
  report.profile = "x\x1b[31m.profile";
  report.own_unknown = 3;
  const std::string text = CheckText(report, false, {});
  EXPECT_THAT(text,
              StartsWith("wall_time of x\\x1b[31m.profile: 9 APIs\n! worse than the field: 1\n"
                         "  API             VERSION    N   A  RATIO  DELTA  P-MACHINES"));
  EXPECT_THAT(text, HasSubstr("\n  liba.so.1!slow  1.2-3    300  50 "));
  EXPECT_THAT(text, HasSubstr(analysis::SeedText(report.apis[0].comparison.call_test.seed) +
                              "  same version, all hardware classes\n"));
  EXPECT_THAT(text, HasSubstr("? too little data: 2\n"));
  EXPECT_THAT(text, HasSubstr("  liba.so.1!rare  12 of 100 calls, 7 of 30 machines\n"));
  EXPECT_THAT(text, HasSubstr("  liba.so.1!unknown  not in the catalogue\n"));
  EXPECT_THAT(text, HasSubstr("Seed of the report " + analysis::SeedText(report.Seed()) + "."));
  EXPECT_THAT(text, HasSubstr("3 of your own batches could not be subtracted"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("fine0"))));
  const std::string everything =
      CheckText(report, true, {.utf8 = true, .color = draw::ColorDepth::kTrue});
  EXPECT_THAT(everything, AllOf(HasSubstr("\x1b[38;2;"), HasSubstr("liba.so.1!fine0")));
}

TEST(CheckTextTest, OfManyWithTooLittleDataTheFirstAreNamed) {
  CheckFleet fleet;
  std::vector<analysis::CheckedApi> apis;
  for (int i = 0; i < 25; ++i) {
    apis.push_back(Api("f" + std::to_string(i), fleet.Machine(0, 5), fleet.Field(Key("none"), 1)));
  }
  const analysis::CheckReport report = analysis::Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_THAT(CheckText(report, false, {}), HasSubstr("  (and 15 more: --all)\nnormal: 0\n"));
  EXPECT_THAT(CheckText(report, true, {}), AllOf(HasSubstr("f24"), Not(HasSubstr("--all"))));
  EXPECT_THAT(CheckText(analysis::Check({}, stats::Metric::kWallTime, 0), true, {}),
              EndsWith("normal: 0\n"));
}

TEST(CheckTextTest, ExplainingShowsBothDistributionsBucketByBucket) {
  CostHistogram mine;
  for (int i = 0; i < 150; ++i) mine.Add(4096);
  for (int i = 0; i < 50; ++i) mine.Add(1024);
  StatRow field{.key = Key("slow")};
  for (int machine = 0; machine < 40; ++machine) {
    CostHistogram one;
    for (int i = 0; i < 100; ++i) one.Add(i < 80 ? 600U + static_cast<unsigned>(machine) : 1024U);
    CheckFleet::Contribute(one, field);
  }
  const analysis::CheckReport report =
      analysis::Check({Api("slow", mine, field)}, stats::Metric::kWallTime, 0);
  const std::string text = ExplainText(report.apis[0], report.metric, {});
  EXPECT_THAT(
      text,
      StartsWith("liba.so.1!slow  version 1.2-3  wall_time\n  worse than the field\n"
                 "  compared with: same version, all hardware classes (1.2-3)\n"
                 "  n 200 calls of mine, 4,000 of 40 contributions; A 40 machines of the fullest "
                 "quarter\n"));
  EXPECT_THAT(text, HasSubstr("39 degrees of freedom"));
  EXPECT_THAT(text,
              EndsWith("                    mine                                     field\n"
                       "  512 ns - 1.0 us      0   0.0 % |                        |  3,200  80.0 % "
                       "|@@@@@@@@@@@@@@@@@@@@@@@@|\n"
                       "  1.0 us - 2.0 us     50  25.0 % |@@@@@@@                 |    800  20.0 % "
                       "|@@@@@@                  |\n"
                       "  2.0 us - 4.1 us      0   0.0 % |                        |      0   0.0 % "
                       "|                        |\n"
                       "  4.1 us - 8.2 us    150  75.0 % |@@@@@@@@@@@@@@@@@@@@@@  |      0   0.0 % "
                       "|                        |\n"));
  // At most as wide as the terminal, if that has room for any bars.
  for (const std::size_t columns : {62, 80, 100}) {
    std::istringstream lines(ExplainText(report.apis[0], report.metric, {.columns = columns}));
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('|')) {
        EXPECT_LE(line.size(), columns) << line;
      }
    }
  }
  const analysis::CheckReport unknown = analysis::Check(
      {Api("slow", mine, StatRow{.key = Key("other")})}, stats::Metric::kWallTime, 0);
  EXPECT_THAT(ExplainText(unknown.apis[0], report.metric, {}),
              AllOf(HasSubstr("  too little data: not in the catalogue\n"),
                    HasSubstr("4.1 us - 8.2 us"), Not(HasSubstr("compared with"))));
}

TEST(CheckTextTest, CsvHasARecordForEveryApi) {
  const analysis::CheckReport report = analysis::Check(SomeApis(), stats::Metric::kWallTime, 0);
  const std::string csv = CheckCsv(
      report, {.source = "catalogue", .snapshot = 5, .published = "2026", .synthetic = true});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 10);
  EXPECT_THAT(
      csv, StartsWith("api,library,symbol,name,version,build_id,symbol_version,metric,verdict,"));
  EXPECT_THAT(
      csv, HasSubstr("\r\nliba.so.1!slow,liba.so.1,slow,slow,1.2-3,0a1111111111,,wall_time,\"worse "
                     "than the field\",\"same version, all hardware classes\",1.2-3,300,50,50,"));
  EXPECT_THAT(csv, HasSubstr(",false,catalogue,5,2026,false,true\r\n"));
}

}  // namespace
}  // namespace fieldcost::report
