#include "tools/analysis/context_penalty.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace fieldcost::analysis {
namespace {

// `count` contributions of 100 equal calls each around a cost; neighbouring ones differ slightly.
stats::ContributionScalars Around(std::uint64_t cost, std::uint64_t count) {
  stats::ContributionScalars scalars;
  for (std::uint64_t i = 0; i < count; ++i) {
    stats::CostHistogram histogram;
    for (int call = 0; call < 100; ++call) histogram.Add(cost + cost * (i % 5) / 200);
    scalars.Merge(stats::ScalarsOf(histogram));
  }
  return scalars;
}

FieldChoice Field(std::uint64_t cost, std::uint64_t machines) {
  FieldChoice field{.stratum = Stratum::kSameClass, .versions = {}, .sums = {}};
  field.sums.fullest_quarter = {.week = 2900, .scalars = Around(cost, machines)};
  return field;
}

TEST(ContextPenaltyTest, IsHowMuchMoreTheFieldNeeds) {
  stats::StatRow lab;
  lab.scalars = Around(1000, 5);
  const auto penalty = PenaltyOf(lab, Field(3000, 40));
  ASSERT_TRUE(penalty);
  EXPECT_NEAR(penalty->ratio, 3, 0.02);
  EXPECT_LT(penalty->low, penalty->ratio);
  EXPECT_GT(penalty->high, penalty->ratio);
  EXPECT_LT(penalty->high / penalty->low, 1.1);
  EXPECT_EQ(penalty->machines, 40U);
  EXPECT_EQ(penalty->stratum, Stratum::kSameClass);
}

TEST(ContextPenaltyTest, TooFewRunsOrMachinesGiveNoPenalty) {
  stats::StatRow lab;
  lab.scalars = Around(1000, 1);
  EXPECT_FALSE(PenaltyOf(lab, Field(3000, 40)));
  lab.scalars = Around(1000, 5);
  EXPECT_FALSE(PenaltyOf(lab, Field(3000, 29)));
  EXPECT_TRUE(PenaltyOf(lab, Field(3000, 30)));
}

}  // namespace
}  // namespace fieldcost::analysis
