#include <map>

#include "tests/agent/lab/measure_fixture.h"

namespace fieldcost::lab {
namespace {

class NoPltTest : public MeasureTest {
 protected:
  // The recorded calls of functions of the victims' library.
  std::map<std::string, std::uint64_t> Calls(bool data_slots) const {
    MeasureOptions options = Options({kVictims + "no_plt"});
    options.rounds = 0;
    options.data_slots = data_slots;
    const auto found = Measured(options);
    EXPECT_TRUE(found) << found.error().message;
    std::map<std::string, std::uint64_t> calls;
    if (!found) return calls;
    for (const ApiSums& api : found->sums.apis()) {
      if (api.api.symbol.starts_with("no_plt_") && api.calls != 0) {
        calls[api.api.symbol] = api.calls;
      }
    }
    return calls;
  }
};

TEST_F(NoPltTest, SlotsThatCodeOnlyCallsThroughAreMeasured) {
  const std::map<std::string, std::uint64_t> expected = {{"no_plt_called", 5},
                                                         {"no_plt_jumped_to", 3}};
  EXPECT_EQ(Calls(false), expected);
}

TEST_F(NoPltTest, AllSlotsAreMeasuredOnRequest) {
  const auto calls = Calls(true);
  EXPECT_EQ(calls.at("no_plt_called"), 5U);
  EXPECT_EQ(calls.at("no_plt_compared"), 1U);
}

}  // namespace
}  // namespace fieldcost::lab
