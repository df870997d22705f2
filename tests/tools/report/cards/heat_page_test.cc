#include "tools/report/cards/heat_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/stats/published_row.h"
#include "tests/tools/report/page_check.h"

namespace fieldcost::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Provenance kProvenance{
    .source = "catalogue", .snapshot = 7, .published = "2026-11-21 03:10 UTC", .synthetic = true};

stats::StatRow Row(const std::string& version, const std::vector<std::uint64_t>& values,
                   stats::Metric metric = stats::Metric::kWallTime) {
  stats::StatRow row;
  row.key.api = {"libz.so.1", version, "00ff", "deflate", ""};
  row.key.metric = metric;
  for (const std::uint64_t value : values) row.histogram.Add(value);
  row.scalars.contributions = 7;
  return testing::AsPublished(row);
}

std::vector<CostCard> Cards(const std::vector<stats::StatRow>& rows) {
  return CardsOf(analysis::Summarise(rows), kProvenance);
}

TEST(HeatPageTest, ThePageIsTheGoldenOne) {
  const std::string page = HeatPage(Cards(
      {Row("1:1.2.9", {900, 1500, 1600, 5000, 70'000}), Row("1:1.2.13", {800, 1300, 9'000'000}),
       Row("1:1.3.1+dfsg-1.2~bpo12+20261121", {30, 60, 70, 2'000'000'000}),
       Row("1:1.3.1+dfsg-1.2~bpo12+20261121", {0, 4096}, stats::Metric::kAllocInclusive)}));
  EXPECT_EQ(page, Golden("heat_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(HeatPageTest, ALineAVersionTheNewestFirst) {
  const std::string page = HeatPage(Cards({Row("1.9", {100}), Row("1.10", {100, 900, 900, 900})}));
  EXPECT_THAT(page, AllOf(HasSubstr("<title>1.10: 512 ns – 1.0 µs, 75.0 %"),
                          HasSubstr("<title>1.9: 64 ns – 128 ns, 100.0 %")));
  EXPECT_LT(page.find(">1.10</text>"), page.find(">1.9</text>"));
}

TEST(HeatPageTest, HostileNamesStayText) {
  stats::StatRow row = Row(kEvil, {5});
  row.key.api.symbol = kEvil;
  row.key.api.soname = kEvil;
  const std::string page = HeatPage(Cards({row}));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

}  // namespace
}  // namespace fieldcost::report
