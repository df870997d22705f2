#include "tools/cli/run/run_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using stats::Metric;
using stats::StatRow;
using ::testing::HasSubstr;
using ::testing::Not;

StatRow Row(const std::string& symbol, Metric metric, std::uint64_t value,
            std::uint64_t calls = 1) {
  StatRow row;
  row.key.api.soname = "libz.so.1";
  row.key.api.symbol = symbol;
  row.key.metric = metric;
  row.histogram.Add(value, calls);
  row.scalars = stats::ScalarsOf(row.histogram);
  return row;
}

std::string TextOf(const std::vector<StatRow>& rows, bool any_fielded = false,
                   bool with_waiting = false) {
  return RunTable(
      FindingsOf(analysis::Summarise(rows, stats::Whose::kOwn), any_fielded, with_waiting),
      {.columns = 80});
}

TEST(RunTableTest, SortsByTimeAndOmitsFunctionsThatWereNeverTimed) {
  const std::string text =
      TextOf({Row("short", Metric::kWallTime, 100), Row("long", Metric::kWallTime, 1'000'000),
              Row("inner", Metric::kCallsPerRun, 7)});
  EXPECT_LT(text.find("long"), text.find("short"));
  EXPECT_THAT(text, HasSubstr("1.0 ms"));
  EXPECT_THAT(text, Not(HasSubstr("inner")));
  EXPECT_THAT(text, HasSubstr("fieldcost top --local"));
}

TEST(RunTableTest, NCountsTimedCallsAndTheTotalAllCalls) {
  const std::string text = TextOf({Row("f", Metric::kWallTime, 1000, 16)});
  EXPECT_THAT(text, ::testing::ContainsRegex("16 us +f +libz.so.1 +1 +1.0 us"));
  EXPECT_THAT(TextOf({Row("f", Metric::kDiskRead, 4096)}),
              ::testing::ContainsRegex(" - +f +libz.so.1 +1 +-"));
}

TEST(RunTableTest, TenLinesAtMostOf80Columns) {
  std::vector<StatRow> rows;
  for (char letter = 'a'; letter < 'm'; ++letter) {
    rows.push_back(Row(std::string(300, letter), Metric::kWallTime, 123'456'789, 999));
    rows.back().key.api.soname = std::string(60, letter);
  }
  const std::string text = TextOf(rows, true);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13);
  EXPECT_THAT(text, HasSubstr("(2 more)"));
  EXPECT_THAT(text, HasSubstr("also selected for the field"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80U) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(RunTableTest, ListsWaitingFunctionsSeparatelyUnlessRequested) {
  std::vector<StatRow> rows = {Row("poll", Metric::kWallTime, 1'000'000'000),
                               Row("deflate", Metric::kWallTime, 1'000)};
  rows[0].key.api.soname = "libc.so.6";
  const std::string text = TextOf(rows);
  EXPECT_THAT(text, HasSubstr("deflate"));
  EXPECT_THAT(text,
              HasSubstr("(waiting: 1 function set apart, since waiting is not a cost: poll)\n"));
  EXPECT_THAT(text, Not(HasSubstr("1.0 s")));
  EXPECT_THAT(TextOf(rows, false, true), HasSubstr("1.0 s"));
  rows.pop_back();
  EXPECT_THAT(TextOf(rows), ::testing::StartsWith("(waiting: 1 function set apart"));
}

TEST(RunTableTest, GivesAReasonIfNothingWasMeasured) {
  EXPECT_THAT(NothingMeasuredText("out of memory"),
              HasSubstr("nothing was measured: out of memory"));
  EXPECT_THAT(NothingMeasuredText(""), HasSubstr("none of the chosen functions"));
}

TEST(RunTableTest, NamesWhatCouldNotBeMeasured) {
  std::string text = TextOf({Row("fwrite", Metric::kCallsPerRun, 7),
                             Row("fwrite", Metric::kNotMeasured, shm::kDiskInsideLibc),
                             Row("fputs", Metric::kNotMeasured, shm::kDiskInsideLibc)});
  EXPECT_THAT(text, ::testing::ContainsRegex(" - +fwrite +libz.so.1 +7 +-"));
  EXPECT_THAT(text, ::testing::ContainsRegex(" - +fputs +libz.so.1 +- +-"));
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_THAT(text, HasSubstr("(not measured of fputs and 1 more: disk_read, disk_written: libc"));
}

}  // namespace
}  // namespace fieldcost::cli
