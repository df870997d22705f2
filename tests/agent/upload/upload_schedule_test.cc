#include "agent/upload/upload_schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace fieldcost::upload {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kNow{std::chrono::microseconds(1'750'000'000'000'000)};
constexpr hours kDay{24};
constexpr hours kYears{24 * 365 * 10};

UploadState WithPending(std::uint64_t seed, WallTime oldest, seconds max_age = kDay) {
  UploadState state{.seed = seed, .max_age = max_age};
  state.oldest_pending = oldest;
  return state;
}

TEST(UploadScheduleTest, SchedulesNoUploadWithoutData) {
  EXPECT_EQ(NextUploadTime({.seed = 1}, kNow), std::nullopt);
  EXPECT_FALSE(CorrectNextTry({.seed = 1}, kNow, 7));
}

TEST(UploadScheduleTest, UploadsPendingDataAtASlotBeforeItIsTooOld) {
  for (const hours max_age : {hours(1), hours(5), kDay, hours(72), hours(24 * 7), hours(24 * 28)}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const WallTime oldest = kNow - minutes(7 * seed % 60);
      const auto next = NextUploadTime(WithPending(seed, oldest, max_age), kNow);
      ASSERT_TRUE(next);
      EXPECT_GT(*next, oldest);
      EXPECT_LE(*next, oldest + max_age);
      const seconds period = std::min<seconds>(max_age, kLongestPeriod);
      EXPECT_EQ(SlotAtOrAfter(seed, *next, period), *next);
      EXPECT_EQ(SlotAtOrAfter(seed, *next + seconds(1), period), *next + period);
    }
  }
}

// Chi-square for 24 (or 7) equal shares, at 0.1 %.
template <std::size_t kShares>
void ExpectSpread(const std::array<int, kShares>& counts, double limit) {
  double expected = 0;
  for (const int count : counts) expected += count;
  expected /= kShares;
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, limit);
}

TEST(UploadScheduleTest, AFleetSpreadsOverTheHoursAndDays) {
  std::array<int, 24> by_hour{};
  std::array<int, 7> by_day{};
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
    const auto daily = NextUploadTime(WithPending(seed, kNow), kNow);
    ++by_hour[static_cast<std::size_t>((*daily - kNow) / hours(1)) % 24];
    const auto weekly = NextUploadTime(WithPending(seed, kNow, kLongestPeriod), kNow);
    ++by_day[static_cast<std::size_t>((*weekly - kNow) / kDay) % 7];
  }
  ExpectSpread(by_hour, 49.7);
  ExpectSpread(by_day, 22.5);
}

TEST(UploadScheduleTest, AfterASuccessTheNextSlotIsAPeriodAway) {
  UploadState state = WithPending(5, kNow);
  WallTime now = *NextUploadTime(state, kNow);
  for (int day = 0; day < 5; ++day) {
    state.next_try = NextTryAfterSuccess(state, now);
    state.oldest_pending = now + minutes(1);
    const auto next = NextUploadTime(state, now);
    EXPECT_EQ(*next, now + kDay);
    now = *next;
  }
  state.min_interval = hours(30);
  EXPECT_EQ(NextTryAfterSuccess(state, now), now + hours(30));
}

TEST(UploadScheduleTest, ABacklogGoesTwiceADayAtTwiceTheUsualPace) {
  UploadState state{.seed = 9};
  state.queued = 5;
  state.oldest_queued = kNow;
  const WallTime first = *NextUploadTime(state, kNow);
  EXPECT_LT(first, kNow + kBacklogPeriod);
  state.next_try = NextTryAfterSuccess(state, first);
  EXPECT_EQ(*NextUploadTime(state, first), first + kBacklogPeriod);
  struct Row {
    std::uint64_t made_last_week;
    std::uint32_t at_once;
  };
  for (const Row& row : {Row{0, 1}, Row{1, 1}, Row{7, 1}, Row{8, 2}, Row{21, 3}, Row{5000, 16}}) {
    state.made_last_week = row.made_last_week;
    EXPECT_EQ(BatchesAtOnce(state), row.at_once) << row.made_last_week;
  }
}

TEST(UploadScheduleTest, TheFirstFailureIsTriedAgainInMinutesAllOthersAtADailySlot) {
  UploadState state{.seed = 9};
  state.queued = 1;
  state.oldest_queued = kNow - kDay;
  std::mt19937_64 random(1);
  state.failures = 1;
  WallTime least = kNow + kYears;
  WallTime most = kNow;
  for (int i = 0; i < 2000; ++i) {
    const WallTime next = NextTryAfterFailure(state, kNow, random(), std::nullopt);
    least = std::min(least, next);
    most = std::max(most, next);
  }
  EXPECT_GE(least, kNow + kFirstRetryLeast);
  EXPECT_LE(most, kNow + kFirstRetryMost);
  EXPECT_GT(most - least, minutes(8)) << "spread";
  for (std::uint32_t failures = 2; failures < 40; ++failures) {
    state.failures = failures;
    WallTime now = kNow + minutes(failures);
    const WallTime next = NextTryAfterFailure(state, now, random(), std::nullopt);
    EXPECT_GE(next, now + kRetryLeast);
    EXPECT_LT(next, now + kRetryLeast + kRetryPeriod);
    state.next_try = next;
    EXPECT_EQ(*NextUploadTime(state, now), next);
    EXPECT_EQ(NextTryAfterFailure(state, next, random(), std::nullopt), next + kRetryPeriod);
  }
  std::array<int, 24> by_hour{};
  for (state.seed = 0; state.seed < 24'000; ++state.seed) {
    const WallTime next = NextTryAfterFailure(state, kNow, 1, std::nullopt);
    ++by_hour[static_cast<std::size_t>((next - kNow) / hours(1)) % 24];
  }
  ExpectSpread(by_hour, 49.7);
}

TEST(UploadScheduleTest, TheServersWishIsHonouredUpToADay) {
  UploadState state{.seed = 9, .failures = 1};
  EXPECT_GE(NextTryAfterFailure(state, kNow, 3, hours(2)), kNow + hours(2));
  EXPECT_LE(NextTryAfterFailure(state, kNow, 3, hours(2)), kNow + hours(3));
  EXPECT_LE(NextTryAfterFailure(state, kNow, 3, hours(24 * 365)), kNow + hours(36));
  EXPECT_LE(NextTryAfterFailure(state, kNow, 3, seconds(0)), kNow + kFirstRetryMost);
  EXPECT_GT(NextTryAfterFailure(state, kNow, 3, seconds(-5)), kNow);
}

TEST(UploadScheduleTest, AMissedSlotIsMadeUpForWithinHoursNotAtOnce) {
  UploadState state = WithPending(5, kNow - 3 * kDay);
  WallTime least = kNow + kYears;
  WallTime most = kNow;
  for (std::uint64_t random = 0; random < 1000; ++random) {
    const auto corrected = CorrectNextTry(state, kNow, random);
    ASSERT_TRUE(corrected);
    EXPECT_TRUE(corrected->new_slots);
    least = std::min(least, corrected->next_try);
    most = std::max(most, corrected->next_try);
  }
  EXPECT_GE(least, kNow);
  EXPECT_LE(most, kNow + kMissedSpread);
  EXPECT_GT(most - least, kMissedSpread * 9 / 10);
  state.next_try = most;
  EXPECT_EQ(*NextUploadTime(state, kNow), most);
  EXPECT_FALSE(CorrectNextTry(state, kNow, 1)) << "once is enough";
}

TEST(UploadScheduleTest, AJumpOfTheClockDelaysNothingForLong) {
  for (const hours jump : {kYears, -kYears}) {
    // Everything was recorded while the clock was wrong.
    for (const std::uint64_t queued : {0, 3}) {
      for (const std::uint32_t failures : {0U, 5U}) {
        UploadState state = WithPending(5, kNow + jump);
        state.queued = queued;
        state.oldest_queued = kNow + jump;
        state.failures = failures;
        state.next_try = kNow + jump + hours(20);
        if (const auto corrected = CorrectNextTry(state, kNow, 77)) {
          state.next_try = corrected->next_try;
        }
        const auto next = NextUploadTime(state, kNow);
        ASSERT_TRUE(next);
        EXPECT_LE(*next, kNow + kDay);
        EXPECT_GE(*next, kNow - kMissedAfter);
      }
    }
  }
}

}  // namespace
}  // namespace fieldcost::upload
