#include "tools/cli/run/two_commands.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace fieldcost::cli {
namespace {

std::string OrderOf(std::uint64_t pairs) {
  std::string order;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    for (const std::size_t turn : {0, 1}) order += SideOf(pair, turn) == 0 ? 'o' : 'n';
  }
  return order;
}

TEST(TwoCommandsTest, EachPairRunsBothInAnOrderWithoutAPeriod) {
  EXPECT_EQ(OrderOf(10),
            "on"
            "no"
            "no"
            "on"
            "no"
            "on"
            "on"
            "no"
            "no"
            "on");
  const std::string order = OrderOf(64);
  for (std::size_t period = 1; period <= order.size() / 2; ++period) {
    EXPECT_NE(order.substr(period), order.substr(0, order.size() - period)) << period;
  }
}

// Costs that grow with time, with its square or with its third power.
TEST(TwoCommandsTest, DriftOfTheMachineIsTheSameOnBothSides) {
  for (const int power : {0, 1, 2, 3}) {
    std::array<std::int64_t, 2> sums{};
    for (std::int64_t time = 0; time < 32; ++time) {
      std::int64_t cost = 1;
      for (int i = 0; i < power; ++i) cost *= time;
      sums[SideOf(static_cast<std::uint64_t>(time / 2), static_cast<std::size_t>(time % 2))] +=
          cost;
    }
    EXPECT_EQ(sums[0], sums[1]) << power;
  }
}

}  // namespace
}  // namespace fieldcost::cli
