#include "common/wire/total_rows.h"

#include <gtest/gtest.h>

#include <iterator>
#include <span>
#include <vector>

#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

using Rows = std::vector<stats::StatRow>;

TEST(TotalRowsTest, AGroupIsOneApiAndMetric) {
  const Rows rows = SampleRows();
  EXPECT_EQ(GroupLength(rows), 2U);
  EXPECT_EQ(GroupLength(std::span(rows).subspan(2)), 2U);
  EXPECT_EQ(GroupLength(std::span(rows).subspan(4)), 2U);
  EXPECT_EQ(GroupLength(std::span(rows).subspan(5)), 1U);
}

TEST(TotalRowsTest, RowsOfOneWeekAreNoParts) {
  const Rows rows = SampleRows();
  EXPECT_TRUE(HasTotal(std::span(rows).first(2)));
  EXPECT_FALSE(HasTotal(std::span(rows).subspan(4, 2))) << "the class is of one week";
  EXPECT_FALSE(HasTotal(std::span(rows).subspan(1, 1))) << "no row of all classes";
  Rows week = {rows[0], rows[1]};
  week[0].key.week = 2921;
  EXPECT_FALSE(HasTotal(week));
}

TEST(TotalRowsTest, TheRestAndThePartsAreTheTotal) {
  const Rows rows = PartlyPublishedRows();
  const auto rest = RestOfTotal(rows);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->scalars.contributions, 1U);
  EXPECT_EQ(rest->quarter.contributions, 2U) << "one is in a part with another fullest quarter";
  EXPECT_EQ(rest->histogram.count(), 28U);
  EXPECT_EQ(rest->histogram.untimed(), 15U);
  Rows without = rows;
  without[0].histogram = rest->histogram;
  without[0].scalars = rest->scalars;
  without[0].fullest_quarter.scalars = rest->quarter;
  ASSERT_TRUE(AddPartsToTotal(without));
  EXPECT_EQ(without, rows);
}

TEST(TotalRowsTest, PartsAboveTheTotalLeaveNoRest) {
  using Spoil = void (*)(Rows&);
  const Spoil spoils[] = {
      [](Rows& rows) { rows[1].histogram.Add(900, 16); },
      [](Rows& rows) { rows[1].histogram.Add(1 << 30); },
      [](Rows& rows) { rows[1].histogram.SetUntimed(rows[0].histogram.untimed()); },
      [](Rows& rows) { rows[1].scalars.contributions += 2; },
      [](Rows& rows) { rows[1].scalars.sum_mean_squared = rows[0].scalars.sum_mean_squared; },
      [](Rows& rows) { rows[1].scalars.sum_inverse_calls = rows[0].scalars.sum_inverse_calls; },
      [](Rows& rows) { rows[1].scalars.sum_within_squares = rows[0].scalars.sum_within_squares; },
      [](Rows& rows) { rows[1].scalars.sum_within_freedom = rows[0].scalars.sum_within_freedom; },
      [](Rows& rows) { rows[1].fullest_quarter.scalars.contributions += 3; },
      // No contributions would be left, but sums.
      [](Rows& rows) { rows[1].scalars.contributions += 1; },
      [](Rows& rows) { rows[1].fullest_quarter.scalars.contributions += 2; },
      // No calls would be left in the bucket, but their sums.
      [](Rows& rows) {
        const stats::Bucket bucket = rows[0].histogram.bucket(12);
        ASSERT_NE(bucket.count, 0U);
        rows[1].histogram.SetBucket(12, {.count = bucket.count, .sum = 1, .sum_of_squares = 1});
        rows[2].histogram.SetBucket(12, {});
      },
  };
  for (std::size_t i = 0; i < std::size(spoils); ++i) {
    Rows rows = PartlyPublishedRows();
    ASSERT_TRUE(RestOfTotal(rows).has_value());
    spoils[i](rows);
    EXPECT_FALSE(RestOfTotal(rows).has_value()) << "spoil " << i;
  }
}

TEST(TotalRowsTest, SumsThatOverflowAreReported) {
  using Spoil = void (*)(stats::StatRow&);
  constexpr stats::Uint128 kAll = ~stats::Uint128{0};
  const Spoil spoils[] = {
      [](auto& total) { total.histogram.SetBucket(5, {.count = ~std::uint64_t{0}}); },
      [](auto& total) { total.histogram.SetUntimed(~std::uint64_t{0}); },
      [](auto& total) { total.scalars.contributions = ~std::uint64_t{0}; },
      [](auto& total) { total.scalars.sum_mean_squared = kAll; },
      [](auto& total) { total.scalars.sum_inverse_calls = kAll; },
      [](auto& total) { total.scalars.sum_within_squares = kAll; },
      [](auto& total) { total.scalars.sum_within_freedom = kAll; },
      [](auto& total) { total.fullest_quarter.scalars.sum_mean_squared = kAll; },
  };
  for (std::size_t i = 0; i < std::size(spoils); ++i) {
    Rows rows = PartlyPublishedRows();
    spoils[i](rows[0]);
    EXPECT_FALSE(AddPartsToTotal(rows)) << "spoil " << i;
  }
}

TEST(TotalRowsTest, ScalarsOutsideTheQuarterAreTheOthers) {
  const stats::StatRow row = PartlyPublishedRows()[1];
  stats::ContributionScalars rest = OutsideQuarter(row);
  EXPECT_EQ(rest.contributions, 1U);
  rest.Merge(row.fullest_quarter.scalars);
  EXPECT_EQ(rest, row.scalars);
}

}  // namespace
}  // namespace fieldcost::wire
