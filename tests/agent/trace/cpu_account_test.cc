#include "agent/trace/cpu_account.h"

#include <gtest/gtest.h>

namespace fieldcost::trace {
namespace {

constexpr std::uint64_t kPeriod = 1000;

TEST(CpuAccountTest, AttributesUnsampledTimeToKernelAndThreadRemainders) {
  CpuAccount account(kPeriod);
  for (int i = 0; i < 5; ++i) account.AddSample(kPeriod);
  account.AddThread(7'300);  // 7 periods, 2 of them in the kernel
  account.AddThread(900);
  const auto rest = account.Take(8'200, 0);
  EXPECT_EQ(rest.kernel_ns, 2'000U);
  EXPECT_EQ(rest.left_over_ns, 1'200U);
  EXPECT_EQ(account.Take(8'200, 0).kernel_ns, 0U);
}

TEST(CpuAccountTest, WhileThreadsRunSamplesMayYetTellOfAPeriodEach) {
  CpuAccount account(kPeriod);
  EXPECT_EQ(account.Take(2'500, 3).kernel_ns, 0U);
  EXPECT_EQ(account.Take(5'500, 3).kernel_ns, 2'500U);
  account.AddSample(kPeriod);
  account.AddSample(kPeriod);
  EXPECT_EQ(account.Take(5'500, 3).kernel_ns, 0U);
  account.AddThread(5'500);
  const auto rest = account.Take(5'500, 0);
  EXPECT_EQ(rest.kernel_ns + rest.left_over_ns, 1'000U);
}

TEST(CpuAccountTest, TotalEqualsTheKernelsCountHoweverOftenTaken) {
  for (const std::uint64_t step : {1U, 7U, 13U}) {
    CpuAccount account(kPeriod);
    std::uint64_t told = 0;
    std::uint64_t total = 0;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      total += 1'337;
      account.AddSample(kPeriod);
      told += kPeriod;
      if (i % step != 0) continue;
      const auto rest = account.Take(total, 2);
      told += rest.kernel_ns + rest.left_over_ns;
      EXPECT_LE(told, total);
    }
    account.AddThread(total);
    const auto rest = account.Take(total, 0);
    EXPECT_EQ(told + rest.kernel_ns + rest.left_over_ns, total) << step;
  }
}

TEST(CpuAccountTest, SamplesThatTellMoreThanWasCountedTakeNothingAway) {
  CpuAccount account(kPeriod);
  account.AddSample(kPeriod);
  account.AddThread(990);
  const auto rest = account.Take(990, 0);
  EXPECT_EQ(rest.kernel_ns, 0U);
  EXPECT_EQ(rest.left_over_ns, 0U);
}

}  // namespace
}  // namespace fieldcost::trace
