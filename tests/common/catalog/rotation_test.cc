#include "common/catalog/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fieldcost::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RotationTest, EveryOrderIsAPermutationAndDependsOnTheSeedOnly) {
  for (const std::uint32_t count : {1U, 64U, 1024U}) {
    std::vector<std::uint32_t> order = FragmentOrder(42, count);
    EXPECT_EQ(order, FragmentOrder(42, count));
    EXPECT_EQ(order != FragmentOrder(43, count), count > 7) << count;
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(order, all);
  }
}

TEST(RotationTest, AShareIsASeventhRoundedUp) {
  EXPECT_EQ(DefaultShare(1), 1U);
  EXPECT_EQ(DefaultShare(7), 1U);
  EXPECT_EQ(DefaultShare(8), 2U);
  EXPECT_EQ(DefaultShare(1024), 147U);
}

TEST(RotationTest, SharesStartAtTheCursorWrapAndSkipWhatIsFresh) {
  const std::vector<std::uint32_t> order = {3, 1, 0, 2};
  EXPECT_THAT(NextStale(order, {true, true, true, true}, 3, 2), ElementsAre(3U, 0U));
  EXPECT_THAT(NextStale(order, {false, true, false, true}, 1, 9), ElementsAre(1U, 0U));
  EXPECT_THAT(NextStale(order, {false, false, false, false}, 0, 9), IsEmpty());
}

TEST(RotationTest, AFleetAsksForEveryFragmentAboutEquallyOftenOnTheFirstDay) {
  constexpr std::uint32_t kFragments = 64;
  constexpr std::uint64_t kClients = 7000;
  std::vector<unsigned> asked(kFragments);
  for (std::uint64_t seed = 0; seed < kClients; ++seed) {
    const std::vector<std::uint32_t> order = FragmentOrder(seed, kFragments);
    for (std::uint32_t i = 0; i < DefaultShare(kFragments); ++i) ++asked[order[i]];
  }
  // The expected number is 7000 * 10 / 64 = 1094 each, with standard deviation 30; six of these.
  EXPECT_GT(*std::min_element(asked.begin(), asked.end()), 910U);
  EXPECT_LT(*std::max_element(asked.begin(), asked.end()), 1280U);
}

}  // namespace
}  // namespace fieldcost::catalog
