#include <algorithm>
#include <string>

#include "tests/agent/lab/measure_fixture.h"

namespace fieldcost::lab {
namespace {

// Whatever the victim does, as often as the map found a call it is met in each round.
class EveryCallTest : public MeasureTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryCallTest, IsMetInEachRoundAsOftenAsInTheMap) {
  MeasureOptions options = Options({kVictim, GetParam()});
  options.accept_any_status = true;
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->finished_rounds, 2U);
  EXPECT_EQ(found->lost_calls, 0U);
  ASSERT_FALSE(found->sums.apis().empty());
  for (const ApiSums& api : found->sums.apis()) {
    EXPECT_GT(api.calls, 0U);
    // An unwinder asks once for each frame that it passes, and thunks are frames, too; and so does
    // the victim of its names.
    if (api.api.symbol == "strlen" || api.api.symbol == "strstr") continue;
    EXPECT_EQ(api.times.calls, 2 * api.calls) << stats::DisplayName(api.api);
  }
}

INSTANTIATE_TEST_SUITE_P(Victims, EveryCallTest,
                         ::testing::Values("alloc", "calls", "returns", "exceptions", "longjmp",
                                           "fibres", "errno", "fork", "threads", "thread-exits",
                                           "die", "backtrace", "vector"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(MeasureTest, BytesAreOfWhoeverAllocatedThem) {
  const auto found = Measured(Options({kVictim, "alloc"}));
  ASSERT_TRUE(found) << found.error().message;
  const ApiSums* const own = Find(*found, "victim_allocate");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->calls, 3000U);
  EXPECT_TRUE(own->inclusive.sum() == 32000);
  EXPECT_TRUE(own->exclusive.sum() == 32000);
  EXPECT_EQ(own->sizes.count(), 3000U);
  EXPECT_TRUE(HasPair(*found, "victim_allocate", "malloc"));
}

TEST_F(MeasureTest, WhatSharesAStackSharesNoGroup) {
  const auto found = Measured(Options({kVictim, "calls"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(HasPair(*found, "victim_recurse", "victim_recurse_too"));
  EXPECT_TRUE(HasPair(*found, "victim_recurse_too", "victim_recurse"));
  EXPECT_TRUE(HasPair(*found, "victim_tail", "victim_tail_end"));
  EXPECT_FALSE(HasPair(*found, "victim_tail_end", "victim_tail"));
  EXPECT_FALSE(HasPair(*found, "victim_noop", "victim_recurse"));
  for (const auto& group : found->grouping.groups) {
    for (const std::uint32_t outer : group) {
      for (const std::uint32_t inner : group) {
        EXPECT_TRUE(outer == inner || !found->sums.pairs().contains({outer, inner}));
      }
    }
  }
}

}  // namespace
}  // namespace fieldcost::lab
