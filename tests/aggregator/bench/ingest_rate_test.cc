#include "aggregator/bench/ingest_rate.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

#include "aggregator/store/store.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::bench {
namespace {

// Fewer agents than threads, so that batches of one agent would overtake each other.
constexpr IngestLoad kSmall = {.agents = 3, .batches_per_agent = 4, .keys = 20'000};

TEST(IngestRateTest, EveryBatchIsInTheStoreAndCounted) {
  const testing::TempDir dir;
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> sent{0};
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const auto rate = MeasureIngest(
      dir.path() / "data", kSmall, SystemClock(), [&](std::uint64_t) { return ++made != 0; },
      [&](std::uint64_t) { return ++sent != 0; });
  ASSERT_TRUE(rate.has_value()) << rate.error().message;
  EXPECT_EQ(made, 3U);
  EXPECT_EQ(sent, 12U);
  EXPECT_EQ(rate->batches, 6U);
  EXPECT_EQ(rate->acknowledged, 6U);
  EXPECT_GT(rate->bucket_adds, 6U * 1000);
  EXPECT_GT(rate->seconds, 0);
  EXPECT_GT(rate->cpu_seconds, 0);
  EXPECT_DOUBLE_EQ(rate->offered_per_second, rate->batches_per_second() / 2);
  EXPECT_GT(rate->ack.p50_ms, 0);
  EXPECT_LE(rate->ack.p50_ms, rate->ack.p999_ms);
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the cores are those of before again";

  const auto verified = store::Store::VerifyStopped({.data_dir = dir.path() / "data"});
  ASSERT_TRUE(verified.has_value()) << verified.error().message;
  EXPECT_TRUE(verified->ok()) << verified->first_problem;
  EXPECT_EQ(verified->expected.batches, 12U);
}

TEST(IngestRateTest, StopsWhenAsked) {
  const testing::TempDir dir;
  const auto go = [](std::uint64_t) { return true; };
  const auto unmade = MeasureIngest(
      dir.path() / "a", kSmall, SystemClock(), [](std::uint64_t) { return false; }, go);
  ASSERT_FALSE(unmade.has_value());
  EXPECT_EQ(unmade.error().code, ErrorCode::kUnavailable);
  for (const std::uint64_t last : {1U, 8U}) {  // in either part
    const auto stopped = MeasureIngest(dir.path() / std::to_string(last), kSmall, SystemClock(), go,
                                       [last](std::uint64_t done) { return done < last; });
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, ErrorCode::kUnavailable) << stopped.error().message;
  }
}

}  // namespace
}  // namespace fieldcost::bench
