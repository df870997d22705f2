#include "tools/analysis/row_selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/spectrum.h"
#include "tests/common/stats/published_row.h"
#include "tests/support/process.h"
#include "tools/analysis/summary.h"
#include "tools/report/cost_csv.h"
#include "tools/report/cost_detail.h"
#include "tools/report/cost_table.h"

namespace fieldcost::analysis {
namespace {

using stats::Metric;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2967;  // begins on 2026-11-12

struct Stratum {
  std::string version = "1.0";
  std::string family;  // empty = all classes
  std::uint32_t week = 0;
};

stats::StatRow Row(const Stratum& stratum, Metric metric = Metric::kWallTime) {
  stats::StatRow row;
  row.key.api = {"liba.so.1", stratum.version, "", "f", ""};
  row.key.metric = metric;
  if (!stratum.family.empty()) row.key.hardware = {"x86_64", stratum.family, 2, 13, "debian-12"};
  row.key.week = stratum.week;
  row.histogram.Add(100);
  row.scalars.contributions = 1;
  return testing::AsPublished(row);
}

const std::vector<stats::StatRow> kRows = {
    Row({}),
    Row({.version = "1.1"}),
    Row({.family = "A-6"}),
    Row({.family = "A-6", .week = kWeek}),
    Row({.family = "B-7", .week = kWeek}),
    Row({.family = "B-7", .week = kWeek + 1}),
    Row({}, Metric::kAllocInclusive),
};

TEST(SelectionTest, SelectsEverythingByDefault) { EXPECT_EQ(Select(kRows, {}), kRows); }

TEST(SelectionTest, VersionAndMetricAreExactOrGlobs) {
  EXPECT_THAT(Select(kRows, {.version = "1.1"}), ElementsAre(kRows[1]));
  EXPECT_EQ(Select(kRows, {.version = "1.*"}).size(), kRows.size());
  EXPECT_THAT(Select(kRows, {.metric = Metric::kAllocInclusive}), ElementsAre(kRows[6]));
}

TEST(SelectionTest, AClassOrWeekIsNeverTakenFromRowsOverAll) {
  EXPECT_THAT(Select(kRows, {.hardware_class = "*A-6*"}), ElementsAre(kRows[2], kRows[3]));
  EXPECT_EQ(Select(kRows, {.hardware_class = "*"}).size(), 4U);
  EXPECT_THAT(Select(kRows, {.weeks = WeekRange{kWeek, kWeek}}), ElementsAre(kRows[3], kRows[4]));
  EXPECT_THAT(Select(kRows, {.weeks = WeekRange{kWeek + 1, kWeek + 9}}), ElementsAre(kRows[5]));
}

TEST(SelectionTest, WeeksAreNamedByADayOrTwo) {
  EXPECT_EQ(ParseWeeks("2026-11-12"), (WeekRange{kWeek, kWeek}));
  EXPECT_EQ(ParseWeeks("2026-11-18"), (WeekRange{kWeek, kWeek}));
  EXPECT_EQ(ParseWeeks("2026-11-12..2026-11-19"), (WeekRange{kWeek, kWeek + 1}));
  EXPECT_EQ(FirstDay(kWeek), "2026-11-12");
  for (const char* wrong : {"", "2026", "2026-13-01", "2026-02-30", "2026-11-12..", "1969-01-01",
                            "2026-11-19..2026-11-05", "2026-11-12...2026-11-12", "2026/11/12"}) {
    EXPECT_FALSE(ParseWeeks(wrong)) << wrong;
  }
}

TEST(SelectionTest, EveryMetricHasAName) {
  EXPECT_EQ(ParseMetric("wall_time"), Metric::kWallTime);
  EXPECT_EQ(ParseMetric("first_call"), Metric::kFirstCallTime);
  EXPECT_FALSE(ParseMetric("") || ParseMetric("WALL_TIME"));
}

TEST(SelectionTest, StrataTextNamesClassesAndWeeks) {
  const auto strata = [](std::vector<stats::StatRow> rows) {
    return StrataText(Summarise(rows)[0].Find(Metric::kWallTime)->strata);
  };
  EXPECT_EQ(strata({kRows[0]}), "all classes, all weeks");
  EXPECT_EQ(strata({kRows[2], kRows[3]}), "A family 6, 4 cores, 8 GiB, Debian 12, all weeks");
  EXPECT_EQ(strata({kRows[3], kRows[4]}), "2 classes together, week of 2026-11-12");
  EXPECT_EQ(strata({kRows[3], kRows[5]}), "2 classes together, weeks of 2026-11-12 to 2026-11-19");
}

std::string Missing(const Selection& selection) {
  std::vector<stats::RowKey> keys;
  for (const stats::StatRow& row : kRows) keys.push_back(row.key);
  return MissingText("f", keys, selection);
}

TEST(SelectionTest, NamesMissingValuesAndTheAvailableOnes) {
  EXPECT_EQ(Missing({.version = "9"}), "no version 9 of f; available: 1.0, 1.1");
  EXPECT_EQ(Missing({.metric = Metric::kDiskRead}),
            "no metric disk_read of f; available: alloc_inclusive, wall_time");
  EXPECT_EQ(Missing({.hardware_class = "*arm*"}),
            "no class *arm* of f; available: x86_64/A-6/2^2 cores/2^13 MiB/debian-12, "
            "x86_64/B-7/2^2 cores/2^13 MiB/debian-12");
  EXPECT_EQ(Missing({.weeks = WeekRange{kWeek + 2, kWeek + 3}}),
            "no week 2026-11-26..2026-12-03 of f; available: weeks from 2026-11-12 to 2026-11-19");
}

TEST(SelectionTest, OfSeveralChoicesTheOneThatLeavesNothingIsNamed) {
  EXPECT_EQ(Missing({.version = "1.1", .hardware_class = "*A-6*"}),
            "no class *A-6* of f, version 1.1; available: only all classes together");
  EXPECT_EQ(Missing({.version = "1.1", .weeks = WeekRange{kWeek, kWeek}}),
            "no week 2026-11-12 of f, version 1.1; available: only all weeks together");
  EXPECT_EQ(Missing({.version = "9", .hardware_class = "*arm*", .metric = Metric::kDiskRead}),
            "no version 9 of f; available: 1.0, 1.1");
  EXPECT_EQ(Missing({.hardware_class = "*A-6*", .weeks = WeekRange{kWeek + 1, kWeek + 1}}),
            "no week 2026-11-19 of f, class *A-6*; available: weeks from 2026-11-12 to 2026-11-12");
}

TEST(SelectionTest, OfManyVersionsThoseNextToItAreNamedEscaped) {
  std::vector<stats::RowKey> keys;
  for (int i = 1; i < 30; ++i) keys.push_back(Row({.version = fmt::format("1.{}", i)}).key);
  EXPECT_EQ(MissingText("f", keys, {.version = "1.9.5"}),
            "no version 1.9.5 of f; available: 1.7, 1.8, 1.9, 1.10, 1.11, 1.12 and 23 more");
  EXPECT_EQ(MissingText("f", keys, {.version = "9"}),
            "no version 9 of f; available: 1.24, 1.25, 1.26, 1.27, 1.28, 1.29 and 23 more");
  keys = {Row({.version = "2.\x1b"}).key};
  EXPECT_EQ(MissingText("f\n", keys, {.version = "\x1b"}),
            "no version \\x1b of f\\x0a; available: 2.\\x1b");
}

TEST(CostCsvTest, HasEveryNumberWithItsStrataAndFreshness) {
  const report::Provenance provenance{"catalogue", 7, "2026-11-20 01:00 UTC", true, true};
  const std::string csv = report::CostCsv(Summarise(std::vector{kRows[3], kRows[4]}), provenance);
  const testing::ProcessResult result = testing::RunProcess(
      {.arguments =
           {"python3", "-c",
            "import csv,io,sys; d=sys.stdin.buffer.read().decode();"
            "r=list(csv.DictReader(io.StringIO(d,newline=''),strict=True));"
            "print(len(r),*[r[0][k] for k in ('api','classes','first_week','last_week',"
            "'contributions','count','all_calls_sum_of_squares','p99_low','few_machines','source',"
            "'snapshot','published','expired','synthetic')],sep=';')"},
       .input = csv});
  EXPECT_EQ(result.output,
            "1;liba.so.1!f;x86_64/A-6/2^2 cores/2^13 MiB/debian-12|x86_64/B-7/2^2 cores/2^13 "
            "MiB/debian-12;2026-11-12;2026-11-12;2;2;20000;64;false;catalogue;7;2026-11-20 01:00 "
            "UTC;true;true\n")
      << result.errors << csv;
}

TEST(CostCsvTest, BucketsAreRecords) {
  const std::string csv = report::BucketCsv(Summarise(std::vector{kRows[0]}), {.source = "local"});
  EXPECT_THAT(csv, HasSubstr("\r\nliba.so.1!f,liba.so.1,f,f,1.0,,,wall_time,ns,all,,,1,64,127,1,"
                             "false,1,100,10000,local,,,false,false\r\n"));
}

TEST(SpectrumTableTest, SeveralHaveOneScaleAndALegend) {
  stats::StatRow cheap = Row({.version = "1"});
  stats::StatRow dear = Row({.version = "2"});
  dear.histogram = {};
  for (int i = 0; i < 8; ++i) dear.histogram.Add(1000);
  dear = testing::AsPublished(dear);
  EXPECT_EQ(report::SpectrumTable(Summarise(std::vector{cheap, dear}), Metric::kWallTime, {}),
            "API  LIBRARY    VERSION  N  CONTRIB     P50  SPECTRUM\n"
            "f    liba.so.1  1        1        1  100 ns  @\n"
            "f    liba.so.1  2        8        1  1.0 us     @\n"
            "wall_time, all classes, all weeks\n"
            "cheap 64 ns @@@| 1.0 us expensive; | = 1 us; height: how many\n");
  EXPECT_EQ(report::SpectrumTable(Summarise(std::vector{cheap}), Metric::kDiskRead, {}), "");
}

TEST(SpectrumTableTest, ColourIsTheSameForTheSameCost) {
  stats::StatRow row = Row({});
  row.histogram.Add(std::uint64_t{1} << 30);
  row = testing::AsPublished(row);
  const std::string text = report::SpectrumTable(Summarise(std::vector{row}), Metric::kWallTime,
                                                 {.utf8 = true, .color = draw::ColorDepth::kTrue});
  const draw::Rgb hot = draw::BucketColor(31);
  const std::string painted = draw::Paint("█", hot, draw::ColorDepth::kTrue);
  EXPECT_NE(text.find(painted), text.rfind(painted)) << "once in the line, once in the legend";
}

TEST(HistogramDetailTest, HasNumbersAboveTheHistogram) {
  EXPECT_EQ(report::HistogramDetail(Summarise(std::vector{kRows[1]}, stats::Whose::kOwn)[0], {}),
            "liba.so.1!f  version 1.1\n\n"
            "  wall_time\n"
            "    n 1, 1 contribution; all classes, all weeks; under low load\n"
            "    one call: 100 ns\n\n"
            "    64 ns - 128 ns  1 |@@@@@@@@@@@@@@@@@@@@|  mean 100 ns\n");
}

}  // namespace
}  // namespace fieldcost::analysis
