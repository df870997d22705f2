#include <algorithm>
#include <string>

#include "tests/agent/lab/measure_fixture.h"

namespace fieldcost::lab {
namespace {

// For every victim, each round times a call as often as the map found it.
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
    // An unwinder calls these once per frame that it passes, including thunks; the victim calls
    // them for its names.
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

TEST_F(MeasureTest, AttributesBytesToTheAllocatingFunction) {
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

// Exactly the bytes of each call of the I/O victim, and no others; the victim's own tests check
// errno and results.
TEST_F(MeasureTest, BytesMovedAreThoseOfFilesAndSockets) {
  MeasureOptions options = Options({kVictims + "io", "all"});
  options.rounds = 1;
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  const auto moved = [&](const char* symbol, int metric) {
    const ApiSums* const api = Find(*found, symbol);
    EXPECT_TRUE(api != nullptr && api->not_measured == 0) << symbol;
    return api == nullptr ? 0 : static_cast<std::uint64_t>(api->moved[metric].sum());
  };
  constexpr int kRead = 0, kWritten = 1, kReceived = 2, kSent = 3;
  // Three rounds, each with 1000 bytes from a file, a pipe and a socket.
  for (const char* symbol : {"victim_io_read", "victim_io_readv"}) {
    EXPECT_EQ(moved(symbol, kRead), 3000U) << symbol;
    EXPECT_EQ(moved(symbol, kReceived), 3000U) << symbol;
    EXPECT_EQ(moved(symbol, kWritten) + moved(symbol, kSent), 0U) << symbol;
  }
  for (const char* symbol : {"victim_io_write", "victim_io_writev"}) {
    EXPECT_EQ(moved(symbol, kWritten), 3000U) << symbol;
    EXPECT_EQ(moved(symbol, kSent), 3000U) << symbol;
    EXPECT_EQ(moved(symbol, kRead) + moved(symbol, kReceived), 0U) << symbol;
  }
  EXPECT_EQ(moved("victim_io_recv", kReceived), 3000U);
  EXPECT_EQ(moved("victim_io_recv", kRead), 0U);
  EXPECT_EQ(moved("victim_io_send", kSent), 3000U);
}

// libc's streams call the kernel without a slot, so bytes moved by them and their callers are
// unknown.
TEST_F(MeasureTest, BytesMovedByStreamsAreUnknown) {
  for (const char* apis : {"", "libvictim.so.1!*"}) {
    MeasureOptions options = Options({kVictims + "io", "streams"});
    options.rounds = 1;
    options.apis = apis;
    const auto found = Measured(options);
    ASSERT_TRUE(found) << found.error().message;
    const ApiSums* const behind = Find(*found, "victim_io_stream");
    ASSERT_NE(behind, nullptr);
    EXPECT_EQ(behind->not_measured, shm::kDiskInsideLibc) << "--apis " << apis;
    EXPECT_FALSE(found->sums.TotalsOf(*behind).contains(stats::Metric::kDiskWritten));
    EXPECT_TRUE(found->sums.TotalsOf(*behind).contains(stats::Metric::kAllocInclusive));
    const ApiSums* const beside = Find(*found, "victim_io_write");
    ASSERT_NE(beside, nullptr);
    EXPECT_EQ(beside->not_measured, 0U);
    EXPECT_EQ(Find(*found, "fwrite") == nullptr, *apis != '\0') << "only what is asked for";
  }
}

// Ticks and nanoseconds of a call represent the same time.
TEST_F(MeasureTest, CyclesCoverTheTimedCalls) {
  const auto found = Measured(Options({kVictim, "calls"}));
  ASSERT_TRUE(found) << found.error().message;
  const ApiSums* const api = Find(*found, "victim_noop");
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->times.cycles.count(), api->times.time.count());
  EXPECT_EQ(api->times.cycle_scalars.contributions, api->times.scalars.contributions);
  const double ns_per_tick = static_cast<double>(runs::CalibrateTsc()) / 4294967296.0;
  const double ns = static_cast<double>(api->times.time.sum());
  // Each time is rounded to a nanosecond.
  EXPECT_NEAR(static_cast<double>(api->times.cycles.sum()) * ns_per_tick, ns,
              0.51 * static_cast<double>(api->times.time.count()) + ns * 0.001);
}

TEST_F(MeasureTest, CountsAreThoseOfEachRun) {
  const auto found = Measured(Options({kVictim, "alloc"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->sums.map_runs(), 3U) << "the first, and one per round";
  const RunTotals totals = found->sums.TotalsOf(*Find(*found, "victim_allocate"));
  const auto is = [&](stats::Metric metric, std::uint64_t least, std::uint64_t most) {
    return totals.at(metric).least == least && totals.at(metric).most == most;
  };
  EXPECT_TRUE(is(stats::Metric::kCallsPerRun, 3000, 3000));
  EXPECT_TRUE(is(stats::Metric::kAllocInclusive, 32000, 32000));
  EXPECT_TRUE(is(stats::Metric::kDiskRead, 0, 0));
}

TEST_F(MeasureTest, ApisThatShareAStackShareNoGroup) {
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
