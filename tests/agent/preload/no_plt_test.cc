#include <map>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// Programs without a PLT call through slots that hold `&function`, too.

namespace fieldcost::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::Values;

constexpr char kAllOfLibrary[] = "libno_plt.so.1!*";

class NoPltTest : public PreloadTest, public ::testing::WithParamInterface<const char*> {
 protected:
  NoPltTest() { SetDataSlots(0); }
  void SetDataSlots(std::uint32_t data_slots) {
    MakeStateDirectory(state_dir_.path(),
                       {.modules = {"libno_plt.so.1"}, .data_slots = data_slots});
  }

  // How often each called function was called; the program must not notice the measurement.
  std::map<std::string, std::uint64_t> Calls(std::vector<std::string> arguments,
                                             const std::string& pick = kAllOfLibrary) {
    arguments[0] = kVictims + arguments[0];
    const ProcessResult plain = RunProcess({.arguments = arguments});
    const ProcessResult measured = RunProcess(Measured(arguments, pick));
    EXPECT_EQ(plain.exit_status, 0) << plain.errors;
    EXPECT_EQ(measured.exit_status, 0) << measured.errors;
    EXPECT_EQ(measured.output, plain.output);
    output_ = measured.output;
    std::map<std::string, std::uint64_t> calls;
    for (const RunFileContent& run : RunFiles()) {
      for (const auto& [symbol, count] : run.calls) {
        if (count != 0) calls[symbol] += count;
      }
    }
    RemoveAll();
    return calls;
  }
  void RemoveAll() const {
    for (const auto& entry : std::filesystem::directory_iterator(state_dir_.path() / "runs")) {
      std::filesystem::remove(entry.path());
    }
  }

  std::string output_;
};

TEST_P(NoPltTest, MeasuresSlotsThatCodeOnlyCallsThrough) {
  EXPECT_THAT(Calls({GetParam()}),
              ElementsAre(Pair("no_plt_called", 5), Pair("no_plt_jumped_to", 3)));
  EXPECT_EQ(output_, "sum 1092\ncompared 1\nstored 1\npassed 1\nin data 1\n");
}

TEST_P(NoPltTest, MeasuresNothingThatWasNotNamed) {
  EXPECT_THAT(Calls({GetParam()}, "libno_plt.so.1!no_plt_called"),
              ElementsAre(Pair("no_plt_called", 5)));
  EXPECT_THAT(Calls({GetParam()}, "libother.so.1!no_plt_called"), IsEmpty());
}

TEST_P(NoPltTest, MeasuresNoFunctionWhoseAddressIsTaken) {
  for (const char* const function :
       {"compared", "stored", "passed", "in_data", "only_pointed_to"}) {
    EXPECT_THAT(Calls({GetParam()}, std::string("libno_plt.so.1!no_plt_") + function), IsEmpty())
        << function;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, NoPltTest,
                         Values("no_plt", "no_plt_now", "no_plt_fixed", "no_plt_stripped"));

TEST_F(NoPltTest, MeasuresLibrariesThatDlopenBrings) {
  const std::string plugin = kVictims + "libno_plt_plugin.so";
  EXPECT_THAT(Calls({"no_plt", plugin}), ElementsAre(Pair("no_plt_called", 4)));
  EXPECT_THAT(Calls({"with_plt", plugin}), ElementsAre(Pair("no_plt_called", 4)));
}

TEST_F(NoPltTest, MeasuresAllSlotsIfThePolicyAllowsIt) {
  SetDataSlots(1);
  const ProcessResult result =
      RunProcess(Measured({kVictims + "no_plt"}, "libno_plt.so.1!no_plt_compared"));
  EXPECT_EQ(result.exit_status, 0);
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_GT(runs[0].calls.at("no_plt_compared"), 0U);
}

}  // namespace
}  // namespace fieldcost::testing
