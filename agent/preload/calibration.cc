#include "agent/preload/calibration.h"

#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/measuring.h"

namespace fieldcost::preload {

namespace {

constexpr int kRounds = 4;
constexpr int kCallsInARow = 32;
constexpr int kBiasRounds = 16;
constexpr int kCallsPerBiasRound = 16;
constexpr uint32_t kMinCostPs = 500;        // what a counted call takes at the least
constexpr uint64_t kMaxCostPs = 1'000'000;  // a microsecond: more is an accident of the moment

using Function = uint64_t (*)(uint64_t);

// Ticks that kCallsInARow calls take, each of which needs the last one's result; in the quickest of
// a few rounds.
uint64_t TicksOf(Function function) {
  uint64_t least = ~uint64_t{0};
  for (int round = 0; round < kRounds; ++round) {
    uint64_t value = 1;
    const uint64_t begin = intercept::ReadTimeStampInOrder();
    for (int i = 0; i < kCallsInARow; ++i) value = function(value);
    const uint64_t ticks = intercept::ReadTimeStampInOrder() - begin;
    if (ticks < least) least = ticks;
  }
  return least;
}

uint32_t CostPs(uint64_t ticks, uint64_t plain_ticks) {
  if (ticks <= plain_ticks) return kMinCostPs;
  __extension__ using Wide = unsigned __int128;
  const auto ps = static_cast<uint64_t>(
      (Wide{(ticks - plain_ticks) * 1000 / kCallsInARow} * process.ticks_to_ns) >> 32);
  if (ps < kMinCostPs) return kMinCostPs;
  return static_cast<uint32_t>(ps > kMaxCostPs ? kMaxCostPs : ps);
}

// Some counters tell time in steps of 10 ns. So that calls do not fall into step with them, each
// comes a little later than the last: 16 calls are spread over 30 ns and more.
void Dither(int call) {
  for (int i = 0; i < 4 * call; ++i) __asm__ volatile("");
}

uint64_t SumOf(const shm::Cell& cell) {
  uint64_t sum = 0;
  for (const shm::RunBucket& bucket : cell.buckets) sum += bucket.sum;
  return sum;
}

// What is recorded of a call whose time is known, less that. An empty function would not do: a call
// and its return take some nanoseconds, which run beside whatever a real function does. The median
// of rounds, each the mean of its calls: a minimum would be below what most calls have in them, a
// mean of all would hold interrupts.
void CalibrateBias(Function timed, const shm::Cell& cell) {
  uint64_t sums[kBiasRounds];  // ascending
  uint64_t value = 1;
  for (int round = -1; round < kBiasRounds; ++round) {
    const uint64_t before = SumOf(cell);
    for (int call = 0; call < kCallsPerBiasRound; ++call) {
      Dither(call);
      value = timed(value);
    }
    if (round < 0) continue;  // memory and caches get ready
    const uint64_t sum = SumOf(cell) - before;
    int place = round;
    for (; place > 0 && sums[place - 1] > sum; --place) sums[place] = sums[place - 1];
    sums[place] = sum;
  }
  const uint64_t known =
      TicksOf(&intercept::fieldcost_known_function) * kCallsPerBiasRound / kCallsInARow;
  constexpr uint64_t kHalf = kCallsPerBiasRound / 2;
  const uint64_t typical = sums[kBiasRounds / 2];
  process.bias_ticks = typical > known ? (typical - known + kHalf) / kCallsPerBiasRound : 0;
  process.bias_spread_ticks =
      (sums[kBiasRounds * 3 / 4] - sums[kBiasRounds / 4] + kHalf) / kCallsPerBiasRound;
}

}  // namespace

void Calibrate() {
  static shm::Cell cell;
  static shm::Pick description;
  const uint64_t ticks_to_ns = process.ticks_to_ns;
  process.cells = reinterpret_cast<uint64_t>(&cell);
  process.metrics = shm::kTimeMetrics;
  process.picks[0].target = reinterpret_cast<uint64_t>(&intercept::fieldcost_known_function);
  process.picks[0].shared = &description;
  const auto timed = reinterpret_cast<Function>(intercept::StubOf(0));
  // The cell shall count ticks meanwhile.
  process.ticks_to_ns = uint64_t{1} << 32;
  CalibrateBias(timed, cell);
  process.picks[0].target = reinterpret_cast<uint64_t>(&intercept::fieldcost_empty_function);
  process.threads[0].records[0].target = process.picks[0].target;
  const uint64_t plain_ticks = TicksOf(&intercept::fieldcost_empty_function);
  const uint64_t timed_ticks = TicksOf(timed);
  no_counters[0] = shm::MakeCallCounter(0, (1U << shm::kMaxSamplingLog2) - 1);
  const uint64_t untimed_ticks = TicksOf(reinterpret_cast<Function>(intercept::SamplingStubOf(0)));
  no_counters[0] = 0;
  process.ticks_to_ns = ticks_to_ns;
  process.timed_call_ps = CostPs(timed_ticks, plain_ticks);
  process.untimed_call_ps = CostPs(untimed_ticks, plain_ticks);
  // The thread takes its slot anew once the run file is there.
  process.picks[0] = {};
  process.threads[0] = {};
  fieldcost_current_thread = nullptr;
}

}  // namespace fieldcost::preload
