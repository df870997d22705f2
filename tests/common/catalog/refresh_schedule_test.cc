#include "common/catalog/refresh_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <vector>

#include "common/shm/mix.h"

namespace fieldcost::catalog {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kNow{hours(24 * 20'000)};
constexpr hours kDay{24};

RefreshState Tried(seconds period, WallTime next_try, std::uint32_t failures = 0) {
  return {.seed = 7, .period = period, .failures = failures, .next_try = next_try};
}

TEST(RefreshScheduleTest, ACatalogueThatWasNeverRefreshedIsDueAtOnce) {
  const RefreshSchedule schedule({.seed = 7});
  EXPECT_TRUE(schedule.IsDue(kNow));
  EXPECT_EQ(schedule.Corrected(kNow), std::nullopt);
  EXPECT_EQ(schedule.Period(), kUnknownRefreshPeriod);
}

TEST(RefreshScheduleTest, TheServicesPeriodIsUsedWithinLimits) {
  EXPECT_EQ(RefreshSchedule(Tried(hours(6), kNow)).Period(), hours(6));
  EXPECT_EQ(RefreshSchedule(Tried(seconds(1), kNow)).Period(), kShortestRefreshPeriod);
  EXPECT_EQ(RefreshSchedule(Tried(hours(24 * 3650), kNow)).Period(), kLongestRefreshPeriod);
}

TEST(RefreshScheduleTest, SuccessesFollowEachOtherAtExactlyOnePeriod) {
  for (const seconds period : {seconds(3600), seconds(21'600), seconds(86'400), seconds(604'800)}) {
    WallTime last = RefreshSchedule(Tried(period, kNow)).AfterSuccess(kNow).next_try;
    for (int i = 0; i < 5; ++i) {
      const RefreshState next = RefreshSchedule(Tried(period, last, 3)).AfterSuccess(last);
      EXPECT_EQ(next.next_try, last + period);
      EXPECT_EQ(next.failures, 0U);
      last = next.next_try;
    }
  }
}

TEST(RefreshScheduleTest, FailuresBackOffUpToThePeriod) {
  const hours week(7 * 24);
  RefreshState state = Tried(week, kNow);
  WallTime now = kNow;
  std::vector<WallTime::duration> waits;
  for (int i = 0; i < 40; ++i) {
    state = RefreshSchedule(state).AfterFailure(now);
    waits.push_back(state.next_try - now);
    now = state.next_try;
  }
  EXPECT_GE(waits[0], hours(7));
  EXPECT_LT(waits[0], hours(7 + 112));
  EXPECT_THAT(waits[2], ::testing::AllOf(::testing::Ge(hours(24)), ::testing::Le(hours(72))));
  EXPECT_EQ(waits.back(), week);
  EXPECT_EQ(state.failures, 40U);
  state.failures = ~std::uint32_t{0} - 1;
  EXPECT_LE(RefreshSchedule(state).AfterFailure(now).next_try, now + week * 3 / 2);
}

TEST(RefreshScheduleTest, AnySequenceOfOutcomesGivesALaterTimeWithinTwoPeriods) {
  std::uint64_t random = 1;
  for (int client = 0; client < 200; ++client) {
    RefreshState state{.seed = shm::NextRandom(&random),
                       .period = seconds(1 + shm::NextRandom(&random) % 5'000'000)};
    WallTime now = kNow;
    for (int step = 0; step < 100; ++step) {
      const RefreshSchedule schedule(state);
      const std::uint64_t kind = shm::NextRandom(&random) % 3;
      state = kind == 0   ? schedule.AfterSuccess(now)
              : kind == 1 ? schedule.AfterFailure(now)
                          : schedule.Postponed(now);
      ASSERT_GT(state.next_try, now);
      ASSERT_LE(state.next_try, now + 2 * schedule.Period());
      ASSERT_EQ(RefreshSchedule(state).Corrected(now), std::nullopt);
      now = state.next_try;
    }
  }
}

TEST(RefreshScheduleTest, ASlotThatWasSleptThroughIsMadeUpForOnceWithinFourHours) {
  const auto corrected = RefreshSchedule(Tried(kDay, kNow - hours(9))).Corrected(kNow);
  ASSERT_TRUE(corrected);
  EXPECT_GE(corrected->next_try, kNow);
  EXPECT_LT(corrected->next_try, kNow + kMissedRefreshSpread);
  EXPECT_EQ(RefreshSchedule(*corrected).Corrected(corrected->next_try + minutes(30)), std::nullopt);
  EXPECT_FALSE(RefreshSchedule(*corrected).AfterSuccess(kNow + kDay).was_missed);
  EXPECT_FALSE(RefreshSchedule(*corrected).AfterFailure(kNow + kDay).was_missed);
}

TEST(RefreshScheduleTest, ATimerThatLooksLateDelaysAnAttemptByAtMostFiveTimesAsMuch) {
  const auto corrected = RefreshSchedule(Tried(kDay, kNow - minutes(20))).Corrected(kNow);
  ASSERT_TRUE(corrected);
  EXPECT_LT(corrected->next_try, kNow + minutes(80));
  EXPECT_EQ(RefreshSchedule(Tried(kDay, kNow - minutes(1))).Corrected(kNow), std::nullopt);
}

TEST(RefreshScheduleTest, AClockThatWentBackDoesNotStopRefreshing) {
  const auto corrected = RefreshSchedule(Tried(kDay, kNow + hours(24 * 365))).Corrected(kNow);
  ASSERT_TRUE(corrected);
  EXPECT_LE(corrected->next_try, kNow + kDay);
}

// A fleet of clients on a virtual clock.
struct Fleet {
  std::size_t clients = 100'000;
  seconds period = kDay;
  hours outage_begins{0};  // hours since the start; none if it ends at 0
  hours outage_ends{0};
  minutes tick{0};            // of the timer that looks whether a refresh is due; 0 = at once
  bool office_hours = false;  // machines run from 8 to 17 o'clock only
};

struct Load {
  std::vector<unsigned> per_minute;
  // The busiest minute of these hours, in multiples of the mean of one request per period.
  double Busiest(const Fleet& fleet, int from_hour, int to_hour) const {
    const auto first = per_minute.begin();
    const unsigned most = *std::max_element(first + from_hour * 60, first + to_hour * 60);
    const double mean =
        static_cast<double>(fleet.clients) * 60 / static_cast<double>(fleet.period.count());
    return most / mean;
  }
};

// The next moment at which a client of this fleet can look: its machine runs, and its timer fires.
WallTime NextLook(const Fleet& fleet, WallTime due, std::uint64_t& random) {
  WallTime at = due;
  if (fleet.tick > minutes(0)) {
    const auto late = static_cast<std::uint64_t>(microseconds(2 * fleet.tick).count());
    at += microseconds(static_cast<std::int64_t>(shm::NextRandom(&random) % late));
  }
  if (!fleet.office_hours) return at;
  const WallTime day = std::chrono::floor<std::chrono::days>(at);
  if (at < day + hours(8)) return day + hours(8);
  return at < day + hours(17) ? at : day + kDay + hours(8);
}

Load Simulate(const Fleet& fleet, int simulated_hours) {
  struct Event {
    WallTime at;
    std::size_t client;
    bool operator>(const Event& other) const { return at > other.at; }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<RefreshState> states(fleet.clients);
  std::uint64_t random = 20'261'128;
  for (std::size_t i = 0; i < fleet.clients; ++i) {
    // Each has been refreshed at some time before.
    states[i] = {.seed = shm::NextRandom(&random), .period = fleet.period};
    states[i] = RefreshSchedule(states[i]).AfterSuccess(kNow - fleet.period / 2);
    events.push({NextLook(fleet, states[i].next_try, random), i});
  }
  Load load{.per_minute = std::vector<unsigned>(static_cast<std::size_t>(simulated_hours) * 60)};
  while (events.top().at < kNow + hours(simulated_hours)) {
    const auto [now, client] = events.top();
    events.pop();
    RefreshState& state = states[client];
    if (const auto corrected = RefreshSchedule(state).Corrected(now)) {
      state = *corrected;
    } else if (RefreshSchedule(state).IsDue(now)) {
      ++load.per_minute[static_cast<std::size_t>((now - kNow) / minutes(1))];
      const bool is_out = now >= kNow + fleet.outage_begins && now < kNow + fleet.outage_ends;
      state = is_out ? RefreshSchedule(state).AfterFailure(now)
                     : RefreshSchedule(state).AfterSuccess(now);
    }
    events.push({NextLook(fleet, state.next_try, random), client});
  }
  return load;
}

TEST(RefreshFleetTest, TheBusiestMinuteOf100000ClientsIsAtMostTwiceTheMean) {
  for (const minutes tick : {minutes(0), minutes(15)}) {
    const Fleet fleet{.tick = tick};
    const double busiest = Simulate(fleet, 96).Busiest(fleet, 0, 96);
    RecordProperty(tick == minutes(0) ? "daemon" : "timer", std::to_string(busiest));
    EXPECT_LE(busiest, 2) << tick.count();
    EXPECT_GE(busiest, 1) << tick.count();
  }
}

TEST(RefreshFleetTest, AlsoDuringAndAfterAnOutageOfSixHours) {
  for (const minutes tick : {minutes(0), minutes(15)}) {
    const Fleet fleet{.outage_begins = hours(24), .outage_ends = hours(30), .tick = tick};
    const Load load = Simulate(fleet, 120);
    const std::string name = tick == minutes(0) ? "daemon" : "timer";
    RecordProperty(name + "_during", std::to_string(load.Busiest(fleet, 24, 30)));
    RecordProperty(name + "_after", std::to_string(load.Busiest(fleet, 30, 120)));
    EXPECT_LE(load.Busiest(fleet, 0, 120), 2) << name;
  }
}

TEST(RefreshFleetTest, MachinesThatAllStartInTheMorningSpreadOut) {
  for (const minutes tick : {minutes(0), minutes(15)}) {
    const Fleet fleet{.tick = tick, .office_hours = true};
    const double busiest = Simulate(fleet, 120).Busiest(fleet, 24, 120);
    RecordProperty(tick == minutes(0) ? "daemon" : "timer", std::to_string(busiest));
    // Their mean over the nine hours in which they run is 24 / 9 of the mean over the day.
    EXPECT_LE(busiest, 3 * 24 / 9.0);
  }
}

}  // namespace
}  // namespace fieldcost::catalog
