#include "common/catalog/refresh_schedule.h"

#include <fmt/format.h>
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

TEST(RefreshScheduleTest, ASlotThatWasSleptThroughIsMadeUpForOnceWithinThePeriod) {
  const auto corrected = RefreshSchedule(Tried(kDay, kNow - hours(9))).Corrected(kNow);
  ASSERT_TRUE(corrected);
  EXPECT_GE(corrected->next_try, kNow);
  EXPECT_LT(corrected->next_try, kNow + kDay);
  EXPECT_EQ(RefreshSchedule(*corrected).Corrected(corrected->next_try), std::nullopt);
  EXPECT_EQ(RefreshSchedule(*corrected).AfterSuccess(kNow + kDay).put_offs, 0U);
  EXPECT_EQ(RefreshSchedule(*corrected).AfterFailure(kNow + kDay).put_offs, 0U);
  // An hour's sleep delays it by less than a day.
  const auto short_sleep = RefreshSchedule(Tried(kDay, kNow - hours(1))).Corrected(kNow);
  EXPECT_LT(short_sleep->next_try, kNow + kDay);
}

TEST(RefreshScheduleTest, AMachineThatRunsByDayGetsASlotByDay) {
  // Some wait for their next slot at first.
  std::optional<RefreshState> corrected;
  for (std::uint64_t seed = 0; !corrected || corrected->moved_slot == WallTime{}; ++seed) {
    RefreshState state = Tried(kDay, kNow - hours(9));
    state.seed = seed;
    corrected = RefreshSchedule(state).Corrected(kNow);
    ASSERT_TRUE(corrected);
  }
  const WallTime done = corrected->next_try + minutes(30);
  const RefreshState next = RefreshSchedule(*corrected).AfterSuccess(done);
  EXPECT_EQ(next.next_try, corrected->next_try + kDay);
  EXPECT_EQ(RefreshSchedule(next).AfterSuccess(next.next_try).next_try,
            corrected->next_try + 2 * kDay);
}

TEST(RefreshScheduleTest, AMachineThatSeldomRunsIsRefreshedNevertheless) {
  // It runs for an hour each day, and sleeps through every slot.
  RefreshState state = Tried(kDay, kNow);
  WallTime now = kNow + hours(20);
  for (std::uint32_t day = 0; day < kMaxMissedSlots; ++day, now += kDay) {
    const auto corrected = RefreshSchedule(state).Corrected(now);
    ASSERT_TRUE(corrected) << day;
    EXPECT_LT(corrected->next_try, now + kDay / (1 << day));
    state = *corrected;
    state.next_try = now + hours(2);  // the worst case: asleep again
  }
  const auto corrected = RefreshSchedule(state).Corrected(now);
  EXPECT_LT(corrected->next_try, now + hours(1));
  // Slots that are met end this.
  state = RefreshSchedule(*corrected).AfterSuccess(corrected->next_try);
  EXPECT_EQ(state.missed_slots, kMaxMissedSlots);
  EXPECT_EQ(RefreshSchedule(state).AfterSuccess(state.next_try).missed_slots, 0U);
}

TEST(RefreshScheduleTest, ATimerThatLooksLateDelaysAnAttemptByLessThanThreeHours) {
  const auto corrected = RefreshSchedule(Tried(kDay, kNow - minutes(20))).Corrected(kNow);
  ASSERT_TRUE(corrected);
  EXPECT_LT(corrected->next_try, kNow + kSlightlyLateSpread);
  EXPECT_EQ(corrected->moved_slot, WallTime{});
  // It is put off once.
  EXPECT_EQ(RefreshSchedule(*corrected).Corrected(corrected->next_try + minutes(30)), std::nullopt);
  EXPECT_EQ(RefreshSchedule(Tried(kDay, kNow - kRefreshIsPunctual)).Corrected(kNow), std::nullopt);
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
  hours all_sleep{0};  // all machines sleep until then, from the second day on, and wake at once
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
  // The timer's clock stands still while the machine sleeps.
  microseconds until_look(0);
  if (fleet.tick > minutes(0)) {
    const auto longest = static_cast<std::uint64_t>(microseconds(2 * fleet.tick).count());
    until_look = microseconds(static_cast<std::int64_t>(shm::NextRandom(&random) % longest));
  }
  const WallTime at = due + until_look;
  const WallTime asleep = kNow + kDay;
  const WallTime wake = asleep + fleet.all_sleep;
  if (at >= asleep && due < asleep) return at + fleet.all_sleep;
  if (due >= asleep && due < wake) return wake + until_look;
  if (!fleet.office_hours) return at;
  const WallTime day = std::chrono::floor<std::chrono::days>(at);
  if (at < day + hours(8)) return day + hours(8) + until_look;
  return at < day + hours(17) ? at : day + kDay + hours(8) + until_look;
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
    const Load load = Simulate(fleet, 192);
    const double busiest = load.Busiest(fleet, 0, 192);
    RecordProperty(tick == minutes(0) ? "daemon" : "timer", std::to_string(busiest));
    // Their mean over the nine hours in which they run is 24 / 9 of the mean over the day.
    EXPECT_LE(busiest, 2 * 24 / 9.0);
    // After a few days each is refreshed daily.
    EXPECT_GE(std::accumulate(load.per_minute.end() - 24 * 60, load.per_minute.end(), 0U),
              fleet.clients * 95 / 100);
  }
}

TEST(RefreshFleetTest, MachinesThatAllWakeInTheSameInstantSpreadOut) {
  for (const minutes tick : {minutes(0), minutes(15)}) {
    for (const int slept : {1, 4, 8, 12, 16, 20, 24, 48}) {
      const Fleet fleet{.tick = tick, .all_sleep = hours(slept)};
      const double busiest = Simulate(fleet, 96).Busiest(fleet, 0, 96);
      RecordProperty(fmt::format("{}_{}", tick == minutes(0) ? "daemon" : "timer", slept),
                     std::to_string(busiest));
      EXPECT_LE(busiest, 2) << slept;
    }
  }
}

}  // namespace
}  // namespace fieldcost::catalog
