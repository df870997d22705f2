#include "agent/idle/idle_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "agent/idle/idle_probe.h"
#include "agent/idle/monotonic.h"
#include "agent/idle/proc_stat.h"
#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

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
      auto clock = IdleClock::Open(cpu, {.tick_ns = kTickNs, .only = source});
      if (!clock) continue;  // not all kernels have it
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

// A simulated CPU as seen in /proc/stat and by a thread that is always scheduled immediately.
class FakeCpu {
 public:
  FakeCpu() {
    SetIdle(1'000 * kStatUnitNs);
    FIELDCOST_CHECK(WriteFileAtomically(delay_, "10 0 1\n", 0600));
  }
  void SetIdle(std::uint64_t idle_ns) {
    const std::string text = fmt::format(
        "cpu  1 2 3 999999 5 6 7 0 0 0\ncpu0 1 2 3 888888 5 6 7 0 0 0\n"
        "cpu3 1 2 3 {} 5 6 7 0 0 0\nintr 1 2 3\n",
        idle_ns / kStatUnitNs);
    // Written in place, since the clock keeps the file open.
    const UniqueFd file(::open(stat_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    FIELDCOST_CHECK(::write(file.get(), text.data(), text.size()) ==
                    static_cast<ssize_t>(text.size()));
  }
  Result<IdleClock> Open() const {
    return IdleClock::Open(3, {.tick_ns = kTickNs,
                               .only = IdleClock::Source::kPromptness,
                               .stat = stat_.c_str(),
                               .run_delay = delay_.c_str()});
  }
  // Runs the clock for `ticks` ticks; the CPU is idle in the first `of_ticks` of each 100. `each`
  // receives the real and the reported idle time so far.
  template <typename Each>
  void Run(int ticks, int of_ticks, const Each& each) {
    auto clock = Open().value();
    std::uint64_t now = 1'000'000'000;
    std::uint64_t idle = 0;
    std::uint64_t given = clock.Read(now);
    for (int i = 0; i < ticks; ++i) {
      now += kTickNs;
      if (i % 100 < of_ticks) idle += kTickNs;
      SetIdle(1'000 * kStatUnitNs + idle);
      given += clock.Read(now);
      each(idle, given);
    }
  }
  static constexpr std::uint64_t kTickNs = 2'000'000;

 private:
  testing::TempDir dir_;
  const std::string stat_ = (dir_.path() / "stat").string();
  const std::string delay_ = (dir_.path() / "schedstat").string();
};

TEST(IdleClockTest, AThreadThatGetsABusyCpuAtOnceDoesNotMakeItIdle) {
  for (const int idle_of_100 : {0, 1, 10, 50, 97, 100}) {
    FakeCpu cpu;
    std::uint64_t idle_at_end = 0;
    std::uint64_t given_at_end = 0;
    cpu.Run(1'000, idle_of_100, [&](std::uint64_t idle, std::uint64_t given) {
      ASSERT_LE(given, idle + kStatUnitNs) << idle_of_100;
      idle_at_end = idle;
      given_at_end = given;
    });
    // Nor is idle time missing: /proc/stat lags behind by less than a unit.
    EXPECT_GE(given_at_end + 2 * kStatUnitNs, idle_at_end) << idle_of_100;
  }
}

// A real CPU kept busy by a loop, however the kernel schedules the thread.
TEST(IdleClockTest, PromptnessNeverExceedsProcStatNextToABusyLoop) {
  const std::uint32_t cpu = UsableCpus().front();
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    ASSERT_TRUE(PinTo(cpu));
    while (!is_over.load()) continue;
  });
  std::thread([&] {
    ASSERT_TRUE(PinTo(cpu));
    const sched_param parameters{};
    ::sched_setscheduler(0, SCHED_IDLE, &parameters);
    constexpr std::uint64_t kTickNs = 2'000'000;
    const std::uint64_t before = ReadStatIdle().value().at(cpu);
    auto clock = IdleClock::Open(cpu, {.tick_ns = kTickNs, .only = IdleClock::Source::kPromptness});
    if (!clock) return;  // not all kernels have it
    std::uint64_t given = clock->Read(MonotonicNs());
    for (int i = 0; i < 50; ++i) {
      SleepUntil((MonotonicNs() / kTickNs + 1) * kTickNs);
      given += clock->Read(MonotonicNs());
    }
    EXPECT_LE(given, ReadStatIdle().value().at(cpu) - before + kStatUnitNs);
  }).join();
  is_over = true;
  busy.join();
}

TEST(IdleClockTest, WithoutProcStatPromptnessIsNotUsed) {
  const auto clock = IdleClock::Open(
      3, {.tick_ns = 1'000'000, .only = IdleClock::Source::kPromptness, .stat = "/nonexistent"});
  ASSERT_FALSE(clock.has_value());
  EXPECT_EQ(clock.error().code, ErrorCode::kUnsupported);
}

TEST(StatBoundTest, NeverAllowsMoreThanTheCountHasGrownAndAUnitAsksRarely) {
  std::mt19937_64 random(11);
  for (int run = 0; run < 20; ++run) {
    StatBound bound;
    std::uint64_t stat = random() % (100 * kStatUnitNs);
    const std::uint64_t first = stat;
    std::uint64_t greatest = stat;
    std::uint64_t now = 5;
    std::uint64_t given = 0;
    std::uint64_t reads = 0;
    for (int i = 0; i < 2'000; ++i) {
      given += bound.Allow(random() % 4'000'000, now, [&]() -> std::optional<std::uint64_t> {
        ++reads;
        if (random() % 10 == 0) return std::nullopt;
        // The count may decrease.
        return stat > first + kStatUnitNs && random() % 20 == 0 ? stat - kStatUnitNs : stat;
      });
      ASSERT_LE(given, greatest - first + kStatUnitNs) << run;
      now += random() % 4'000'000;
      if (random() % 3 == 0) stat += random() % 5'000'000;
      greatest = std::max(greatest, stat);
    }
    EXPECT_LE(reads, now / kStatUnitNs + 20);
  }
}

TEST(LookRingTest, ReturnsWhatWasAddedAndDropsWhatDoesNotFit) {
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

TEST(LookRingTest, OneThreadMayAddWhileAnotherRemoves) {
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
