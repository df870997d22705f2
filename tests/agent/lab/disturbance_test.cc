#include "agent/lab/disturbance.h"

#include <gtest/gtest.h>

#include <deque>

namespace fieldcost::lab {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class DisturbanceTest : public ::testing::Test {
 protected:
  // Whether a run counts as disturbed if the loop took this long before and after it.
  bool Run(std::uint64_t before_ns, std::uint64_t after_ns, std::uint64_t switches = 0,
           std::uint64_t wall_ns = kSecond) {
    loops_ = {before_ns, after_ns};
    disturbance_.Begin();
    return disturbance_.End(switches, wall_ns);
  }

 private:
  std::deque<std::uint64_t> loops_;
  Disturbance disturbance_{[this] {
    const std::uint64_t ns = loops_.front();
    loops_.pop_front();
    return ns;
  }};
};

TEST_F(DisturbanceTest, SlowLoopsBeforeAndAfterAreADisturbance) {
  EXPECT_FALSE(Run(1000, 1000));
  EXPECT_TRUE(Run(1260, 1260));
  EXPECT_TRUE(Run(90'000, 1260));
  EXPECT_FALSE(Run(1250, 1250));
}

TEST_F(DisturbanceTest, OneSlowLoopIsAnAccident) {
  EXPECT_FALSE(Run(1000, 1000));
  EXPECT_FALSE(Run(1000, 9000));
  EXPECT_FALSE(Run(9000, 1000));
}

TEST_F(DisturbanceTest, TheBestLoopOfAllIsWhatCounts) {
  EXPECT_FALSE(Run(2000, 2000));  // there is nothing better to compare with
  EXPECT_FALSE(Run(1000, 2000));
  EXPECT_TRUE(Run(2000, 2000));
}

TEST_F(DisturbanceTest, FourTimesTheUsualSwitchesAreOne) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Run(1000, 1000, 100)) << i;
  EXPECT_FALSE(Run(1000, 1000, 400));
  EXPECT_TRUE(Run(1000, 1000, 500));
  EXPECT_FALSE(Run(1000, 1000, 500, 2 * kSecond));  // judged by rate
}

TEST_F(DisturbanceTest, IgnoresAFewSwitches) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Run(1000, 1000, 0)) << i;
  EXPECT_FALSE(Run(1000, 1000, 20, kSecond / 1000));
  EXPECT_TRUE(Run(1000, 1000, 21, kSecond / 1000));
}

TEST_F(DisturbanceTest, OfTheFirstRunsNothingUsualIsKnown) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Run(1000, 1000, i == 4 ? 100'000 : 0)) << i;
}

TEST_F(DisturbanceTest, DisturbedRunsAreNotUsual) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Run(1000, 1000, 10)) << i;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Run(1000, 1000, 1000)) << i;
}

TEST_F(DisturbanceTest, HandlesRunsWithoutTime) { EXPECT_FALSE(Run(1000, 1000, 5, 0)); }

}  // namespace
}  // namespace fieldcost::lab
