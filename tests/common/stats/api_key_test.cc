#include "common/stats/api_key.h"

#include <gtest/gtest.h>

#include <set>

namespace fieldcost::stats {
namespace {

TEST(ApiKeyTest, EveryMetricHasItsOwnNameAndAUnit) {
  std::set<std::string_view> names;
  for (std::uint32_t number = 1; number <= shm::kMaxMetric; ++number) {
    ASSERT_TRUE(IsKnownMetric(number));
    const auto metric = static_cast<Metric>(number);
    EXPECT_TRUE(names.insert(Name(metric)).second) << Name(metric);
    EXPECT_FALSE(Name(metric).empty());
    EXPECT_FALSE(Unit(metric).empty());
  }
  EXPECT_EQ(Name(Metric::kWallTime), "wall_time");
  EXPECT_EQ(Unit(Metric::kCpuCycles), "cycles");
  EXPECT_EQ(Unit(Metric::kAllocSize), "bytes");
  EXPECT_EQ(Name(Metric::kCallsPerRun), "calls_per_run");
  EXPECT_EQ(Unit(Metric::kCallsPerRun), "calls");
  EXPECT_EQ(Name(Metric::kFirstCallTime), "first_call");
  EXPECT_EQ(Unit(Metric::kFirstCallTime), "ns");
  EXPECT_EQ(Name(Metric::kTimePerRun), "time_per_run");
  EXPECT_EQ(Unit(Metric::kTimePerRun), "ns");
  EXPECT_EQ(Name(Metric::kWallTimeBusy), "wall_time_busy");
  EXPECT_EQ(Unit(Metric::kWallTimeBusy), "ns");
}

TEST(ApiKeyTest, UnknownMetricsHaveNoName) {
  for (const std::uint32_t number : {0U, shm::kMaxMetric + 1, ~0U}) {
    EXPECT_FALSE(IsKnownMetric(number));
  }
  EXPECT_EQ(Name(static_cast<Metric>(200)), "");
  EXPECT_EQ(Unit(static_cast<Metric>(0)), "");
}

TEST(ApiKeyTest, DisplayNamesReadLikeTheHandbook) {
  EXPECT_EQ(DisplayName(ApiKey{.soname = "libsqlite3.so.0", .symbol = "sqlite3_step"}),
            "libsqlite3.so.0!sqlite3_step");
  EXPECT_EQ(DisplayName(HardwareClass{.architecture = "x86_64",
                                      .cpu_family = "GenuineIntel-6",
                                      .log2_cores = 1,
                                      .log2_memory_mib = 14,
                                      .os_release = "debian-12"}),
            "x86_64/GenuineIntel-6/2^1 cores/2^14 MiB/debian-12");
  EXPECT_EQ(DisplayName(HardwareClass{}), "all classes");
}

}  // namespace
}  // namespace fieldcost::stats
