#include "tools/report/cost_detail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/cost_rows.h"
#include "tools/analysis/summary.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

using analysis::OneHeavyCaller;
using analysis::Row;
using stats::Metric;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr draw::Style kPlain{};

TEST(CostDetailTest, NumbersOfRunsAreCalledSo) {
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "f", Metric::kCallsPerRun, {100, 300}, 2),
      Row("liba.so.1", "f", Metric::kFirstCallTime, {5000}, 1)};
  const std::string text = CostDetail(analysis::Summarise(rows)[0], kPlain);
  EXPECT_THAT(text, HasSubstr("calls_per_run  @"));
  EXPECT_THAT(text, HasSubstr("2 runs, 400 calls measured, 2 contributions"));
  EXPECT_THAT(text, HasSubstr("first_call"));
  EXPECT_THAT(text, HasSubstr("1 run, 1 contribution; all classes, all weeks\n"));
}

TEST(CostDetailTest, MarksWhichNumbersCountCallsAndWhichMachines) {
  EXPECT_THAT(CostDetail(analysis::Summarise(std::vector{OneHeavyCaller(40)})[0], kPlain),
              HasSubstr("    n 240, 21 contributions; all classes, all weeks; under low load\n"
                        "    typical machine: each of 21 contributions counts the same\n"
                        "    p50     20 ns  (guaranteed between 16 ns and 32 ns)\n"
                        "    p95     20 ns  (guaranteed between 16 ns and 32 ns)\n"
                        "    p99    5.0 us  (guaranteed between 4.1 us and 8.2 us)\n"));
  EXPECT_THAT(CostDetail(analysis::Summarise(std::vector{OneHeavyCaller()})[0], kPlain),
              HasSubstr("    all calls: left out, a few machines made most of these calls\n\n"
                        "    16 ns - 32 ns    95.2 % |@@@"));
  EXPECT_THAT(CostDetail(analysis::Summarise(std::vector{
                             Row("liba.so.1", "work", Metric::kWallTime, {20, 22}, 2)})[0],
                         kPlain),
              HasSubstr("    mean 21 ns\n"
                        "    all calls: each of 2 counts the same\n"
                        "    p50     20 ns  (guaranteed between 20 ns and 21 ns)\n"
                        "    mean 21 ns, standard deviation 1 ns\n"));
}

TEST(CostDetailTest, MentionsTheLoadOnlyWhereItIsKnown) {
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "work", Metric::kWallTime, {20, 20, 20, 20}, 2)};
  analysis::CostSummary summary = analysis::Summarise(rows, stats::Whose::kOwn)[0];
  EXPECT_THAT(CostDetail(summary, kPlain), HasSubstr("under low load"));
  summary.load_known = false;  // as for a lab table
  EXPECT_THAT(CostDetail(summary, kPlain), Not(HasSubstr("load")));
  EXPECT_THAT(CostBrief(summary, kPlain), Not(HasSubstr("load")));
}

TEST(CostDetailTest, ShowsNumbersIntervalsAndHistogram) {
  const std::vector<stats::StatRow> rows = {
      Row("liba.so.1", "work", Metric::kWallTime, {20, 20, 20, 20}, 2)};
  EXPECT_EQ(CostDetail(analysis::Summarise(rows, stats::Whose::kOwn)[0], kPlain),
            "liba.so.1!work  version 1.2-3  build-id 00ff\n"
            "\n"
            "  wall_time  @\n"
            "    n 4, 2 contributions; all classes, all weeks; under low load\n"
            "    p50     20 ns\n"
            "    mean 20 ns, standard deviation 0 ns\n"
            "\n"
            "    16 ns - 32 ns  4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n");
}

TEST(FigureTextTest, CountsContributionsWithoutWeight) {
  stats::StatRow one = OneHeavyCaller();
  one.key.week = 2900;
  stats::StatRow two = Row("liba.so.1", "work", Metric::kWallTime, {20, 20}, 3);
  two.weights = {};
  two.bounded = {};
  two.key.week = 2901;
  const std::vector<analysis::CostSummary> summaries = analysis::Summarise(std::vector{one, two});
  EXPECT_EQ(MachinesText(summaries[0].Find(Metric::kWallTime)->figures),
            "each of 21 contributions counts the same; 3 without weight");
}

// A run that did not measure bytes, for these reasons.
stats::StatRow NotMeasured(const char* symbol, std::vector<std::uint64_t> reasons) {
  return Row("liba.so.1", symbol, Metric::kNotMeasured, std::move(reasons), 1);
}

TEST(CostDetailTest, NamesWhatIsNotMeasuredAndWhy) {
  const auto summaries = analysis::Summarise(
      std::vector{Row("liba.so.1", "print", Metric::kNetSent, {0, 0}, 1),
                  NotMeasured("print", {shm::kDiskInsideLibc, shm::kAllocInLoader})});
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_FALSE(summaries[0].metrics.contains(Metric::kNotMeasured));
  for (const std::string& text : {CostBrief(summaries[0], kPlain), CostDetail(summaries[0], kPlain),
                                  HistogramDetail(summaries[0], kPlain)}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(text, HasSubstr("not measured  disk_read, disk_written: libc reads or writes"));
    EXPECT_THAT(text,
                HasSubstr("alloc_inclusive, alloc_exclusive, alloc_size: it loads a library"));
    EXPECT_THAT(text, Not(HasSubstr("disk_read  0")));
  }
  EXPECT_THAT(CostBrief(summaries[0], kPlain), ContainsRegex("always 0 +net_sent\n"));
}

TEST(CostDetailTest, IsNeverAlwaysZeroWhereSomeRunsDidNotMeasureIt) {
  const auto summaries =
      analysis::Summarise(std::vector{Row("liba.so.1", "step", Metric::kDiskRead, {0, 0}, 1),
                                      Row("liba.so.1", "step", Metric::kDiskWritten, {0, 0}, 1),
                                      NotMeasured("step", {shm::kReadMapped})});
  const std::string text = CostBrief(summaries[0], kPlain);
  EXPECT_THAT(text, ContainsRegex("always 0 +disk_written\n"));
  EXPECT_THAT(text, ContainsRegex("not measured +disk_read in some runs: a library has mapped"));
}

}  // namespace
}  // namespace fieldcost::report
