#include "agent/trace/short_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fieldcost::trace {
namespace {

using Kind = ShortWaits::Kind;
using Span = ShortWaits::Span;

TEST(ShortWaitsTest, FollowEachOtherUpToTheEndOfTheLast) {
  ShortWaits waits;
  waits.Add({.pid = 1, .tid = 2, .kind = Kind::kWait, .end_ns = 110, .length_ns = 10});
  waits.Add({.pid = 1, .tid = 2, .kind = Kind::kPreempted, .end_ns = 150, .length_ns = 5});
  waits.Add({.pid = 1, .tid = 2, .kind = Kind::kWait, .end_ns = 200, .length_ns = 20});
  waits.Add({.pid = 1, .tid = 2, .kind = Kind::kWait, .end_ns = 210, .length_ns = 0});
  const auto spans = waits.TakeOf(2);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].kind, Kind::kPreempted);
  EXPECT_EQ(spans[0].end_ns, 170U);
  EXPECT_EQ(spans[0].length_ns, 5U);
  EXPECT_EQ(spans[1].kind, Kind::kWait);
  EXPECT_EQ(spans[1].end_ns, 200U);
  EXPECT_EQ(spans[1].length_ns, 30U);
  EXPECT_EQ(spans[1].pid, 1);
  EXPECT_TRUE(waits.TakeOf(2).empty());
  EXPECT_TRUE(waits.TakeAll().empty());
}

// Whenever they are taken, no thread's waits overlap, and no time is missing.
TEST(ShortWaitsTest, TakenAtAnyTimesTheyDoNotOverlapAndAddUp) {
  std::mt19937_64 random(9);
  ShortWaits waits;
  struct Thread {
    std::uint64_t now = 1'000;
    std::uint64_t told_until = 0;
    std::uint64_t waited[2] = {};
    std::uint64_t told[2] = {};
  };
  Thread threads[5];
  const auto take = [&](const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      Thread& thread = threads[span.tid];
      EXPECT_GE(span.end_ns - span.length_ns, thread.told_until);
      EXPECT_LE(span.end_ns, thread.now);
      thread.told_until = span.end_ns;
      thread.told[static_cast<int>(span.kind)] += span.length_ns;
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto tid = static_cast<pid_t>(random() % 5);
    Thread& thread = threads[tid];
    const std::uint64_t length = random() % 100;
    const int kind = static_cast<int>(random() % 2);
    thread.now += random() % 50 + length;
    thread.waited[kind] += length;
    waits.Add({.pid = 1,
               .tid = tid,
               .kind = static_cast<Kind>(kind),
               .end_ns = thread.now,
               .length_ns = length});
    if (random() % 20 == 0) take(waits.TakeOf(tid));
    if (random() % 200 == 0) take(waits.TakeAll());
  }
  take(waits.TakeAll());
  for (const Thread& thread : threads) {
    EXPECT_TRUE(std::ranges::equal(thread.told, thread.waited));
  }
}

}  // namespace
}  // namespace fieldcost::trace
