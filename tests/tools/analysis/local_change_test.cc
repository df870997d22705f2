#include "tools/analysis/local_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/report/local_diff.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::Metric;
using stats::StatRow;

// A row with this many calls of about `ns` each.
StatRow Row(const char* symbol, std::uint64_t ns, std::uint64_t calls,
            Metric metric = Metric::kWallTime, const char* version = "1") {
  StatRow row;
  row.key.api = {.soname = "libz.so.1", .package_version = version, .symbol = symbol};
  row.key.metric = metric;
  for (std::uint64_t i = 0; i < calls; ++i) row.histogram.Add(ns + i % 10);
  row.scalars = stats::ScalarsOf(row.histogram);
  return row;
}

const LocalChange* Find(const std::vector<LocalChange>& changes, std::string_view symbol) {
  for (const LocalChange& change : changes) {
    if (change.symbol == symbol) return &change;
  }
  return nullptr;
}

TEST(LocalChangeTest, DistinguishesMoreLessEqualAndTooLittleData) {
  const std::vector<StatRow> before = {Row("slow", 1000, 200), Row("fast", 1000, 200),
                                       Row("same", 1000, 200), Row("few", 1000, 200),
                                       Row("near", 1000, 200), Row("gone", 1000, 200)};
  const std::vector<StatRow> after = {Row("slow", 2000, 200), Row("fast", 500, 200),
                                      Row("same", 1000, 200), Row("few", 9000, 99),
                                      Row("near", 1200, 200), Row("new", 1000, 200)};
  const auto changes = CompareLocal(before, after, Metric::kWallTime);
  ASSERT_EQ(changes.size(), 5U) << "neither what is gone nor what is new";
  EXPECT_EQ(changes[0].symbol, "slow");
  EXPECT_EQ(changes[0].change, Verdict::kMore);
  EXPECT_NEAR(changes[0].ratio, 2, 0.02);
  EXPECT_GT(changes[0].delta, 0.99);
  EXPECT_EQ(changes[1].symbol, "fast");
  EXPECT_EQ(changes[1].change, Verdict::kLess);
  EXPECT_EQ(Find(changes, "same")->change, Verdict::kNone);
  EXPECT_EQ(Find(changes, "near")->change, Verdict::kNone) << "a fifth is no change";
  EXPECT_EQ(Find(changes, "few")->change, Verdict::kTooLittleData);
  EXPECT_EQ(Find(changes, "few")->timed_after, 99U);
}

TEST(LocalChangeTest, MergesVersionsButNotMetrics) {
  const std::vector<StatRow> before = {Row("a", 1000, 60),
                                       Row("a", 1000, 60, Metric::kWallTime, "2"),
                                       Row("a", 64, 500, Metric::kAllocInclusive)};
  const std::vector<StatRow> after = {Row("a", 1000, 120),
                                      Row("a", 640, 500, Metric::kAllocInclusive)};
  EXPECT_EQ(CompareLocal(before, after, Metric::kWallTime).at(0).timed_before, 120U);
  EXPECT_EQ(CompareLocal(before, after, Metric::kWallTime).at(0).change, Verdict::kNone);
  EXPECT_EQ(CompareLocal(before, after, Metric::kAllocInclusive).at(0).change, Verdict::kMore);
  EXPECT_TRUE(CompareLocal(before, after, Metric::kCpuCycles).empty());
}

TEST(LocalChangeTest, TextListsChangesAndCountsTheRest) {
  const auto changes =
      CompareLocal(std::vector{Row("slow", 1000, 200), Row("same", 1000, 200)},
                   std::vector{Row("slow", 2000, 200), Row("same", 1000, 200)}, Metric::kWallTime);
  const std::string text = report::LocalDiffText(changes, false, {});
  EXPECT_THAT(text, ::testing::HasSubstr("slower  slow"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("same")));
  EXPECT_THAT(text, ::testing::StartsWith(
                        "1 of 2 APIs is slower, 0 are faster; most: slow, 2.0 x slower.\n"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("(no change shown: 1; fewer than 100 calls on a side: 0;"));
  EXPECT_THAT(report::LocalDiffText({}, false, {}), ::testing::StartsWith("no API was measured"));
  EXPECT_THAT(report::LocalDiffText(changes, true, {}), ::testing::HasSubstr("same"));
  const std::string csv = report::LocalDiffCsv(changes);
  EXPECT_THAT(csv, ::testing::HasSubstr("libz.so.1,slow,wall_time,slower,"));
  EXPECT_THAT(csv, ::testing::HasSubstr("libz.so.1,same,wall_time,\"no change shown\","));
}

}  // namespace
}  // namespace fieldcost::analysis
