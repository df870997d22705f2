#include "agent/idle/idle_clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "agent/idle/idle_probe.h"
#include "agent/idle/monotonic.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

TEST(IdleClockTest, TheRunTimeOfACpuIsInItsSeventhColumn) {
  const std::string text =
      "version 15\ntimestamp 4294937296\n"
      "cpu0 0 0 0 0 0 0 8500000000 100000000 52\n"
      "domain0 00000003 0 0 0 0 0 0 0 0 0\n"
      "cpu1 0 0 0 0 0 0 7500000000 200000000 61\n"
      "cpu10 0 0 0 0 0 0 1 2 3\n";
  EXPECT_EQ(ParseRunTime(text, 0), 8'500'000'000U);
  EXPECT_EQ(ParseRunTime(text, 1), 7'500'000'000U);
  EXPECT_EQ(ParseRunTime(text, 10), 1U);
  EXPECT_FALSE(ParseRunTime(text, 2).has_value());
  for (const char* broken : {"", "\n", "cpu0 ", "cpu0 1 2 3 4 5 6", "cpu0 1 2 3 4 5 6 -7 8"})
    EXPECT_FALSE(ParseRunTime(broken, 0).has_value()) << broken;
}

TEST(IdleClockTest, HowLongAThreadWaitedForItsCpuIsTheSecondNumber) {
  EXPECT_EQ(ParseRunDelay("123 456 7\n"), 456U);
  EXPECT_EQ(ParseRunDelay("123 456"), 456U);
  for (const char* broken : {"", "\n", "1", "1 ", "1 x 2"})
    EXPECT_FALSE(ParseRunDelay(broken).has_value()) << broken;
}

TEST(IdleClockTest, ACpuIsIdleForNoLongerThanHasPassed) {
  std::thread([] {
    const std::uint32_t cpu = UsableCpus().front();
    ASSERT_TRUE(PinTo(cpu));
    for (const auto source : {IdleClock::Source::kStates, IdleClock::Source::kRunQueue,
                              IdleClock::Source::kPromptness}) {
      constexpr std::uint64_t kTickNs = 1'000'000;
      auto clock = IdleClock::Open(cpu, kTickNs, source);
      if (!clock) continue;  // not every kernel has it
      EXPECT_EQ(clock->source(), source);
      std::uint64_t now = MonotonicNs();
      EXPECT_EQ(clock->Read(now), 0U);
      for (int i = 0; i < 100; ++i) {
        ::sched_yield();
        const std::uint64_t before = std::exchange(now, MonotonicNs());
        EXPECT_LE(clock->Read(now), now - before);
      }
    }
  }).join();
}

TEST(LookRingTest, WhatIsPutInComesOutAndWhatHasNoRoomDoesNot) {
  LookRing ring;
  EXPECT_FALSE(ring.Pop().has_value());
  for (std::uint64_t i = 0; i < 3 * LookRing::kMost; ++i) {
    ASSERT_TRUE(ring.Push({.begin_ns = i, .end_ns = i + 1, .idle = true}));
    ASSERT_EQ(ring.Pop(), (CpuLook{.begin_ns = i, .end_ns = i + 1, .idle = true}));
  }
  for (std::uint64_t i = 0; i < LookRing::kMost; ++i) ASSERT_TRUE(ring.Push({.end_ns = i}));
  EXPECT_FALSE(ring.Push({}));
  for (std::uint64_t i = 0; i < LookRing::kMost; ++i) ASSERT_EQ(ring.Pop()->end_ns, i);
  EXPECT_FALSE(ring.Pop().has_value());
}

TEST(LookRingTest, OneThreadPutsInAndAnotherTakesOut) {
  LookRing ring;
  constexpr std::uint64_t kLooks = 20'000;
  std::thread other([&ring] {
    for (std::uint64_t i = 0; i < kLooks;) {
      if (ring.Push({.begin_ns = i, .end_ns = 2 * i})) ++i;
    }
  });
  for (std::uint64_t i = 0; i < kLooks;) {
    const auto look = ring.Pop();
    if (!look) continue;
    EXPECT_EQ(look->begin_ns, i);
    EXPECT_EQ(look->end_ns, 2 * i);
    ++i;
  }
  other.join();
}

}  // namespace
}  // namespace fieldcost::idle_agent
