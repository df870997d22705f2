#include <signal.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/collection_fixture.h"

// Calls that are counted but not timed, and how these are chosen.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::SizeIs;

const char* const kScenarios[] = {"calls",        "exceptions", "longjmp", "threads",
                                  "thread-exits", "fibres",     "fork",    "returns"};

class SamplingTest : public CollectionTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SamplingTest, EveryCallIsCountedThoughFewAreTimed) {
  const ProcessResult plain = RunProcess({.arguments = {kVictim, GetParam()}});
  ASSERT_EQ(RunProcess(Measured({kVictim, GetParam()}, kAllOfVictim)).output, plain.output);
  const RunFileContent timed = RunFiles().at(0);
  std::map<std::string, std::uint64_t> calls;
  for (const std::uint32_t sampling_log2 : {1U, 4U, 14U}) {
    RemoveRunFiles();
    MakeStateDirectory(state_dir_.path(),
                       {.modules = {"libvictim.so.1"}, .sampling_log2 = sampling_log2});
    const ProcessResult sampled = RunProcess(Measured({kVictim, GetParam()}, kAllOfVictim));
    EXPECT_EQ(sampled.output, plain.output);
    EXPECT_EQ(sampled.errors, plain.errors);
    EXPECT_EQ(sampled.exit_status, plain.exit_status);
    const RunFileContent run = RunFiles().at(0);
    if (calls.empty()) calls = run.calls;
    EXPECT_EQ(run.calls, calls) << sampling_log2;
  }
  for (const auto& [name, exact] : calls) {
    // If every call is timed, a call that never returned is detected on the thread's next call.
    EXPECT_LE(timed.calls.at(name), exact) << name;
    EXPECT_GE(timed.calls.at(name) + 8, exact) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SamplingTest, ::testing::ValuesIn(kScenarios),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(CollectionTest, OneInSixteenIsTimedOnAverage) {
  SetPolicy({.sampling_log2 = 4});
  ASSERT_EQ(RunProcess(Tally({"loop", "1600000"}, "libtally.so.1!tally_always")).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.calls.at("tally_always"), 1600000U);
  // The gaps are uniform with mean 15: the sum of 100,000 of them deviates by 0.2 %.
  const CellTotals& time = run.Of("tally_always", Metric::kWallTime);
  EXPECT_NEAR(static_cast<double>(time.timed()), 100000, 2000);
  EXPECT_NEAR(static_cast<double>(time.count), 1600000, 32000) << "the calls that they represent";
  EXPECT_EQ((time.count - 1) % 16, 0U) << "the first is timed for certain";
}

TEST_F(CollectionTest, RepresentsCallsOfManyBriefThreadsLikeThoseOfOne) {
  SetPolicy({.sampling_log2 = 4});
  ASSERT_EQ(RunProcess(Tally({"brief", "1000"}, "libtally.so.1!tally_always")).exit_status, 0);
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.calls.at("tally_always"), 20000U);
  const CellTotals& time = run.Of("tally_always", Metric::kWallTime);
  EXPECT_LT(time.timed(), 3000U);
  // The standard error is about 500. If a thread's first gap were like any other, it would be
  // 14,500.
  EXPECT_NEAR(static_cast<double>(time.count), 20000, 2500);
}

// Measured in bytes, so that only the beginning of the sampling depends on a clock. A mean over the
// timed calls alone would be that of the first calls.
TEST_F(CollectionTest, TimedCallsRepresentUntimedOnes) {
  const RunFileContent run = RunPicking("tally_allocate", {.overhead_per_65536 = 65536 / 7},
                                        {"allocate", "500000"}, 65536);
  ASSERT_THAT(run.picks, SizeIs(1));
  if (run.picks[0].phase == shm::kPickDropped) GTEST_SKIP() << "so slow is this machine";
  const CellTotals& bytes = run.Of("tally_allocate", Metric::kAllocInclusive);
  EXPECT_EQ(run.calls.at("tally_allocate"), 501000U);
  EXPECT_LT(bytes.timed(), 250000U);
  EXPECT_GT(static_cast<double>(bytes.sum) / static_cast<double>(bytes.timed()), 4000);
  // The 1000 long calls are over before the first account is settled. In the end, one in N of the
  // short calls is timed: the deviation of their sum is less than one call per sqrt(calls * N).
  const double strays = 5 * std::sqrt(501000.0 * (1U << run.picks[0].sampling_log2));
  EXPECT_NEAR(static_cast<double>(bytes.count), 501000, strays);
  EXPECT_NEAR(static_cast<double>(bytes.sum), 1000 * 1e6 + 500000 * 16.0, 16 * strays);
  EXPECT_NEAR(static_cast<double>(bytes.sum) / static_cast<double>(bytes.count), 1008e6 / 501000,
              1008e6 / 501000 * strays / 501000 * 1.1);
  for (const Metric metric : {Metric::kWallTime, Metric::kAllocExclusive, Metric::kAllocSize}) {
    EXPECT_EQ(run.Of("tally_allocate", metric).count, bytes.count) << "one weight for all";
    EXPECT_EQ(run.Of("tally_allocate", metric).untimed, bytes.untimed);
  }
}

TEST_F(CollectionTest, SigkillLosesNoCountOfASampledCall) {
  MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}, .sampling_log2 = 3});
  BackgroundProcess forever(Measured({kVictim, "forever"}, "libvictim.so.1!victim_noop"));
  ASSERT_TRUE(forever.WaitForLine("5000"));
  forever.Signal(SIGKILL);
  const std::string output = forever.Wait().output;
  const std::size_t end = output.rfind('\n');
  const std::size_t begin = output.rfind('\n', end - 1) + 1;
  const auto printed = std::stoull(output.substr(begin, end - begin));
  EXPECT_THAT(RunFiles().at(0).calls.at("victim_noop"),
              ::testing::AnyOf(::testing::Eq(printed), ::testing::Eq(printed + 1)));
}

TEST_F(CollectionTest, AnApiThatWouldCostTooMuchIsDropped) {
  const RunFileContent run =
      RunPicking("tally_always", {.overhead_per_65536 = 655}, {"loop", "5000000"});
  ASSERT_THAT(run.picks, SizeIs(1));
  EXPECT_EQ(run.picks[0].phase, shm::kPickDropped);
  EXPECT_GT(run.picks[0].end_unix_ns, 0U);
  EXPECT_GT(run.calls.at("tally_always"), 0U);
  EXPECT_LT(run.calls.at("tally_always"), 1000000U);
}

// If a call takes some tenths of a microsecond, timing adds a tenth, and counting next to nothing.
TEST_F(CollectionTest, AnApiThatCostsTooMuchForEachCallIsSampled) {
  const RunFileContent run =
      RunPicking("tally_spin", {.overhead_per_65536 = 65536 / 13}, {"spin", "1000000", "200"});
  ASSERT_THAT(run.picks, SizeIs(1));
  EXPECT_EQ(run.picks[0].phase, shm::kPickActive);
  EXPECT_GE(run.picks[0].sampling_log2, 1U);
  EXPECT_EQ(run.calls.at("tally_spin"), 1000000U);
  EXPECT_LT(run.Of("tally_spin", Metric::kWallTime).timed(), 800000U);
  EXPECT_NEAR(static_cast<double>(run.Of("tally_spin", Metric::kWallTime).count), 1000000,
              5 * std::sqrt(1e6 * (1U << run.picks[0].sampling_log2)));
}

// If a call takes some tens of microseconds, timing adds a fifth of a hundredth.
TEST_F(CollectionTest, AnApiThatTakesLongIsTimedAtEveryCall) {
  const RunFileContent run =
      RunPicking("tally_spin", {.overhead_per_65536 = 655}, {"spin", "4000", "100000"});
  ASSERT_THAT(run.picks, SizeIs(1));
  EXPECT_EQ(run.picks[0].phase, shm::kPickActive);
  EXPECT_EQ(run.picks[0].sampling_log2, 0U);
  EXPECT_EQ(run.Of("tally_spin", Metric::kWallTime).count, 4000U);
}

}  // namespace
}  // namespace fieldcost::testing
