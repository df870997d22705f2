#include "tests/bench/fleet.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <queue>
#include <random>

#include "agent/upload/upload_schedule.h"

namespace fieldcost::fleet {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using upload::UploadState;

constexpr WallTime kBegin{hours(24) * 20'000};  // midnight
constexpr hours kDay{24};
constexpr hours kMaxSpoolAge{21 * 24};
constexpr hours kWeek{7 * 24};
// Of 100 agents, 90 send one small batch per day, 8 fill one batch per day, and 2 fill four.
constexpr double kBatchesADay[] = {1.0, 4.0};
constexpr std::uint64_t kFillOne = 90;
constexpr std::uint64_t kFillFour = 98;
constexpr double kHoursUntilMeasured = 3;  // mean time until there is new data to send
constexpr double kNightBegins = 22;
constexpr double kNightEnds = 7;  // approximately; differs between machines

struct Machine {
  UploadState state;
  std::deque<WallTime> queue;  // when each waiting batch was made
  std::deque<WallTime> made;   // in the last week
  double batches_a_day = 0;    // of full batches; 0 = one small batch, as old as allowed
  WallTime next_full{};
  WallTime measured{};  // when there is new data to send
  bool sleeps = false;
  double wakes = 0;  // hour of the day
};

class Fleet {
 public:
  explicit Fleet(const FleetOptions& options)
      : options_(options),
        random_(options.seed),
        counted_from_(kBegin + options.warm_up_days * kDay),
        outage_from_(counted_from_ + options.steady_days * kDay),
        outage_to_(outage_from_ + hours(options.outage_hours)),
        end_(outage_to_ + options.recovery_days * kDay) {
    const auto counted_hours = static_cast<std::size_t>((end_ - counted_from_) / hours(1));
    load_.tries.resize(counted_hours);
    load_.answered.resize(counted_hours);
  }

  FleetLoad Run();

 private:
  double Uniform() { return std::generate_canonical<double, 53>(random_); }
  microseconds Waiting(double mean_hours) {
    return microseconds(static_cast<std::int64_t>(-std::log1p(-Uniform()) * mean_hours * 3600e6));
  }
  Machine Make();
  WallTime WhenAwake(const Machine& machine, WallTime time) const;
  WallTime Live(Machine& machine, WallTime now);
  void Upload(Machine& machine, WallTime now);
  void MakeBatch(Machine& machine, WallTime now);
  void Count(WallTime now, bool answered);

  FleetOptions options_;
  std::mt19937_64 random_;
  WallTime counted_from_, outage_from_, outage_to_, end_;
  FleetLoad load_;
};

Machine Fleet::Make() {
  Machine machine;
  machine.state.seed = random_();
  const std::uint64_t kind = random_() % 100;
  if (kind >= kFillOne) machine.batches_a_day = kBatchesADay[kind < kFillFour ? 0 : 1];
  machine.sleeps = Uniform() < options_.asleep;
  machine.wakes = kNightEnds - 1 + 2 * Uniform();
  const WallTime begins = kBegin + microseconds(static_cast<std::int64_t>(Uniform() * 24 * 3600e6));
  machine.measured = machine.next_full = begins;
  return machine;
}

WallTime Fleet::WhenAwake(const Machine& machine, WallTime time) const {
  if (!machine.sleeps) return time;
  const WallTime midnight = kBegin + (time - kBegin) / kDay * kDay;
  const double hour = std::chrono::duration<double, std::ratio<3600>>(time - midnight).count();
  const auto wakes = microseconds(static_cast<std::int64_t>(machine.wakes * 3600e6));
  if (hour < machine.wakes) return midnight + wakes;
  if (hour >= kNightBegins) return midnight + kDay + wakes;
  return time;
}

void Fleet::MakeBatch(Machine& machine, WallTime now) {
  machine.queue.push_back(now);
  machine.made.push_back(now);
  ++load_.batches_made;
}

void Fleet::Count(WallTime now, bool answered) {
  if (now < counted_from_) return;
  const auto hour = static_cast<std::size_t>((now - counted_from_) / hours(1));
  if (hour >= load_.tries.size()) return;
  ++load_.tries[hour];
  if (answered) ++load_.answered[hour];
}

// Same as Agent::Upload().
void Fleet::Upload(Machine& machine, WallTime now) {
  UploadState& state = machine.state;
  const std::uint32_t limit = BatchesAtOnce(state);
  const bool is_down = now >= outage_from_ && now < outage_to_;
  bool failed = false;
  for (std::uint32_t sent = 0; sent < limit && !failed; ++sent) {
    if (machine.queue.empty()) {
      if (!state.oldest_pending) break;
      MakeBatch(machine, now);
      state.oldest_pending.reset();
      machine.measured = now + Waiting(kHoursUntilMeasured);
    }
    Count(now, !is_down);
    failed = is_down;
    if (failed) break;
    machine.queue.pop_front();
    ++load_.batches_sent;
  }
  state.queued = machine.queue.size();
  state.failures = failed ? state.failures + 1 : 0;
  state.next_try = failed ? NextTryAfterFailure(state, now, random_(), std::nullopt)
                          : NextTryAfterSuccess(state, now);
}

// Performs what a machine does at `now`; returns when it must be simulated next.
WallTime Fleet::Live(Machine& machine, WallTime now) {
  const WallTime awake = WhenAwake(machine, now);
  if (awake > now) return awake;
  UploadState& state = machine.state;
  while (machine.batches_a_day > 0 && machine.next_full <= now) {
    MakeBatch(machine, now);
    machine.next_full = now + Waiting(24 / machine.batches_a_day);
  }
  if (!state.oldest_pending && machine.measured <= now) state.oldest_pending = now;
  while (!machine.queue.empty() && now - machine.queue.front() > kMaxSpoolAge) {
    machine.queue.pop_front();
    ++load_.batches_dropped;
  }
  while (!machine.made.empty() && now - machine.made.front() > kWeek) machine.made.pop_front();
  state.queued = machine.queue.size();
  state.oldest_queued = machine.queue.empty() ? WallTime{} : machine.queue.front();
  state.made_last_week = machine.made.size();
  if (const auto corrected = CorrectNextTry(state, now, random_())) {
    state.next_try = corrected->next_try;
    if (corrected->new_slots) state.seed = random_();
  }
  auto next = NextUploadTime(state, now);
  if (next && *next <= now) {
    Upload(machine, now);
    state.oldest_queued = machine.queue.empty() ? WallTime{} : machine.queue.front();
    next = NextUploadTime(state, now);
  }
  WallTime again = next.value_or(end_);
  if (!state.oldest_pending) again = std::min(again, machine.measured);
  if (machine.batches_a_day > 0) again = std::min(again, machine.next_full);
  return std::max(again, now + std::chrono::seconds(1));
}

FleetLoad Fleet::Run() {
  std::vector<Machine> machines;
  machines.reserve(options_.agents);
  using Event = std::pair<WallTime, std::size_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (std::size_t i = 0; i < options_.agents; ++i) {
    machines.push_back(Make());
    events.emplace(machines.back().measured, i);
  }
  while (!events.empty()) {
    const auto [now, index] = events.top();
    events.pop();
    if (now >= end_) continue;
    events.emplace(Live(machines[index], now), index);
  }
  for (const Machine& machine : machines) load_.batches_waiting += machine.queue.size();
  const auto outage = static_cast<std::ptrdiff_t>(options_.steady_days) * 24;
  const auto recovery = outage + static_cast<std::ptrdiff_t>(options_.outage_hours);
  const auto& tries = load_.tries;
  for (std::ptrdiff_t hour = 0; hour < outage; ++hour) {
    load_.steady_mean += static_cast<double>(tries[static_cast<std::size_t>(hour)]);
  }
  load_.steady_mean /= static_cast<double>(outage);
  load_.steady_peak = *std::max_element(tries.begin(), tries.begin() + outage);
  load_.peak_after = *std::max_element(tries.begin() + recovery, tries.end());
  return std::move(load_);
}

}  // namespace

FleetLoad Simulate(const FleetOptions& options) { return Fleet(options).Run(); }

}  // namespace fieldcost::fleet
