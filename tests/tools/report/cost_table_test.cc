#include "tools/report/cost_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/draw/terminal.h"
#include "tests/tools/analysis/cost_rows.h"
#include "tools/analysis/summary.h"
#include "tools/report/cost_detail.h"

namespace fieldcost::report {
namespace {

using analysis::OneHeavyCaller;
using analysis::Row;
using stats::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr draw::Style kPlain{};
constexpr draw::Style kUtf8{.utf8 = true};
constexpr draw::Style kColor{.utf8 = true, .color = draw::ColorDepth::kTrue};

// A table with one line per summary, in the same order.
std::string TableOf(const std::vector<analysis::CostSummary>& summaries, const draw::Style& style) {
  std::vector<analysis::ApiCost> costs;
  for (const analysis::CostSummary& summary : summaries) {
    costs.push_back(CostsOf({summary}, analysis::Versions::kSingle)[0]);
  }
  return CostTable(costs, std::nullopt, style);
}

TEST(CostTableTest, LabelsRowsOfNonPublicLibrariesOnce) {
  const std::vector<stats::StatRow> rows = {
      Row("(private)", "(private)", Metric::kWallTime, {9}, 1),
      Row("mine.so", "work", Metric::kWallTime, {9}, 1)};
  std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows);
  for (analysis::CostSummary& summary : summaries) summary.local_only = true;
  const std::string table = TableOf(summaries, kPlain);
  EXPECT_THAT(table, HasSubstr("mine.so (local only)"));
  EXPECT_THAT(table, Not(HasSubstr("(private) (local only)")));
}

TEST(CostTableTest, OneLinePerApiWithTimeAndAllocationTogether) {
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "work", Metric::kWallTime, std::vector<std::uint64_t>(2000, 1500), 3),
      Row("liba.so.1", "work", Metric::kAllocInclusive, {100, 300}, 3),
      Row("libb.so.2", "only_alloc", Metric::kAllocInclusive, {4096}, 1),
  };
  const std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows);
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(
      TableOf(summaries, kPlain),
      "    TOTAL  API         LIBRARY        N     P50     P95     P99    MEAN  CALLS  CONTRIB  "
      "ALLOC/CALL  VERSION  SPECTRUM\n"
      ">= 3.0 ms  work        liba.so.1  2,000  1.5 us  1.5 us  1.5 us  1.5 us  2,000        3  "
      "     200 B  1.2-3    @\n"
      "        -  only_alloc  libb.so.2      -       -       -       -       -      -        1  "
      "   4.0 KiB  1.2-3\n"
      "cheap 1.0 us @ 2.0 us expensive; height: how many\n");
}

TEST(CostTableTest, DistinguishesTwoVersionsOfASymbol) {
  stats::StatRow versioned = Row("libc.so.6", "f", Metric::kWallTime, {1}, 1);
  versioned.key.api.symbol_version = "GLIBC_2.34";
  const std::vector<stats::StatRow> twins = {Row("libc.so.6", "f", Metric::kWallTime, {1}, 1),
                                             versioned};
  EXPECT_THAT(TableOf(analysis::Summarise(twins), kPlain), HasSubstr("f@GLIBC_2.34  libc.so.6"));
  EXPECT_THAT(TableOf(analysis::Summarise(std::vector{versioned}), kPlain),
              HasSubstr("f    libc.so.6"));
}

TEST(CostTableTest, HostileNamesCannotSteerTheTerminal) {
  const std::vector<stats::StatRow> rows = {
      Row("lib\x1b]0;x\x07.so", "f\nfake line", Metric::kWallTime, {1}, 1)};
  const std::string table = TableOf(analysis::Summarise(rows), kPlain);
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);  // heading, line, scale
  const std::string detail = CostDetail(analysis::Summarise(rows)[0], kPlain);
  EXPECT_THAT(detail, Not(HasSubstr("\x1b")));
  EXPECT_THAT(detail, HasSubstr("f\\x0afake line"));
}

TEST(CostTableTest, ColumnsAlignWithUtf8AndColour) {
  const std::vector<stats::StatRow> rows = {Row("liba.so.1", "a", Metric::kWallTime, {1500}, 1),
                                            Row("liba.so.1", "b", Metric::kWallTime, {15}, 1)};
  const std::string table = TableOf(analysis::Summarise(rows), kUtf8);
  std::vector<std::size_t> widths;
  for (std::size_t begin = table.find('\n') + 1; widths.size() < 2;) {
    const std::size_t version = table.find("1.2-3", begin);
    widths.push_back(draw::DisplayWidth(table.substr(begin, version - begin)));
    begin = table.find('\n', version) + 1;
  }
  EXPECT_EQ(widths[0], widths[1]);
  EXPECT_THAT(TableOf(analysis::Summarise(rows), kColor), HasSubstr("\x1b[38;2;"));
}

TEST(CostTableTest, CallsThatWereOnlyCountedCountToo) {
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "sampled", Metric::kWallTime, {10, 10}, 1),
      Row("liba.so.1", "sampled", Metric::kCallsPerRun, {4000, 96}, 1),
      Row("liba.so.1", "running", Metric::kWallTime, {20, 20, 20}, 1),
      Row("liba.so.1", "running", Metric::kCallsPerRun, {1}, 1),
      Row("liba.so.1", "untimed", Metric::kAllocInclusive, {8}, 1),
      Row("liba.so.1", "untimed", Metric::kCallsPerRun, {77}, 1)};
  std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows);
  analysis::Sort(summaries, analysis::SortKey::kTotal);
  EXPECT_EQ(summaries[0].api.symbol, "sampled");
  const std::string table = TableOf(summaries, kPlain);
  EXPECT_THAT(table, ::testing::ContainsRegex("sampled +liba.so.1 +2 .* 4,096 "));
  EXPECT_THAT(table, ::testing::ContainsRegex("running +liba.so.1 +3 .* 3 "));
  EXPECT_THAT(table, ::testing::ContainsRegex("untimed +liba.so.1 +- .* 77 "));
}

TEST(CostTableTest, TotalsOfAllRunsAreAboveThoseOfMeasuredOnes) {
  stats::StatRow drawn = Row("liba.so.1", "drawn", Metric::kTimePerRun, {}, 1);
  drawn.histogram.Add(900, 1024);
  drawn.histogram.Add(1100, 1024);
  drawn.bounded = BoundedSumsOf(drawn.histogram);
  drawn.weights = WeightsOf(drawn.histogram);
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "drawn", Metric::kWallTime, {900, 1100}, 1), drawn,
      Row("liba.so.1", "measured", Metric::kWallTime, {1'000'000'000}, 1),
      Row("liba.so.1", "measured", Metric::kWallTimeBusy, {2'000'000'000}, 1)};
  std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows);
  analysis::Sort(summaries, analysis::SortKey::kTotal);
  const std::string table = TableOf(summaries, kPlain);
  EXPECT_THAT(table, ::testing::ContainsRegex(" 2.0 ms  drawn .*\n>= 3.0 s  measured "));
  const std::string text = CostDetail(summaries[0], kPlain);
  EXPECT_THAT(text,
              HasSubstr("    about 2,048 runs, represented by 2 measured ones, 1 contribution;"));
  EXPECT_THAT(text, HasSubstr("    estimated, all runs: 2.0 ms (standard error 1.5 ms)\n"));
  EXPECT_THAT(CostDetail(summaries[1], kPlain),
              AllOf(HasSubstr("wall_time"), HasSubstr("; under low load\n"),
                    HasSubstr("wall_time_busy"), HasSubstr("; under some load\n")));
}

TEST(CostTableTest, MarksRowsMeasuredOnlyOnBusyMachines) {
  const std::vector<analysis::CostSummary> summaries = analysis::Summarise(
      std::vector{Row("liba.so.1", "busy", Metric::kWallTimeBusy, {2000, 2000}, 1)});
  EXPECT_THAT(TableOf(summaries, kPlain), HasSubstr(" 2  2.0 us*  2.0 us*  "));
  EXPECT_THAT(TableNote(CostsOf(summaries, analysis::Versions::kSingle), kPlain),
              HasSubstr("; *: in runs started under some load"));
}

TEST(CostTableTest, HidesFiguresOfTooFewMachines) {
  stats::StatRow old = Row("liba.so.1", "old", Metric::kWallTime, {1500}, 3);
  old.weights = {};
  old.bounded = {};
  std::vector<analysis::CostSummary> summaries =
      analysis::Summarise(std::vector{old, OneHeavyCaller()});
  analysis::Sort(summaries, analysis::SortKey::kTotal);
  EXPECT_EQ(
      TableOf(summaries, kPlain),
      "    TOTAL  API   LIBRARY      N    P50    P95     P99   MEAN  CALLS  CONTRIB  VERSION  "
      "SPECTRUM\n"
      ">= 8.1 us  work  liba.so.1  455  20 ns  20 ns  5.0 us  18 ns    455       21  1.2-3    "
      "@       .\n"
      "        -  old   liba.so.1    -      -      -       -      -      -        3  1.2-3\n"
      "cheap 16 ns @@@@@|@@@ 8.2 us expensive; | = 1 us; height: how many\n");
  EXPECT_EQ(TableNote(CostsOf(summaries, analysis::Versions::kSingle), kPlain),
            "(P50 to P99: the typical machine's, in runs started under low load; "
            "TOTAL >=: of measured runs only; -: unknown)\n");
}

TEST(CostTableTest, NoNumberOfCallsMovesOneMachinesLineFurther) {
  // 2^40 calls, and 1,000 times as many.
  const auto table = [](std::uint64_t calls) {
    return TableOf(analysis::Summarise(std::vector{OneHeavyCaller(calls)}), kPlain);
  };
  EXPECT_EQ(table(std::uint64_t{1} << 40), table(100'000));
  EXPECT_EQ(table(std::uint64_t{1} << 50), table(100'000));
}

}  // namespace
}  // namespace fieldcost::report
