#include "agent/preload/calibration.h"

#include <stdint.h>

#include "agent/preload/measuring.h"
#include "agent/preload/slots.h"

namespace fieldcost::preload {

extern "C" __attribute__((visibility("hidden"))) void fieldcost_empty_function();

namespace {

constexpr int kRounds = 4;
constexpr int kCallsPerRound = 16;
constexpr uint32_t kMinCostPs = 500;        // what a counted call takes at the least
constexpr uint64_t kMaxCostPs = 1'000'000;  // a microsecond: more is an accident of the moment

using Function = void (*)();

// Ticks that kCallsPerRound calls take, in the quickest of a few rounds.
uint64_t TicksOf(Function function) {
  uint64_t least = ~uint64_t{0};
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t begin = ReadTimeStamp();
    for (int i = 0; i < kCallsPerRound; ++i) function();
    const uint64_t ticks = ReadTimeStamp() - begin;
    if (ticks < least) least = ticks;
  }
  return least;
}

uint32_t CostPs(uint64_t ticks, uint64_t plain_ticks) {
  if (ticks <= plain_ticks) return kMinCostPs;
  __extension__ using Wide = unsigned __int128;
  const auto ps = static_cast<uint64_t>(
      (Wide{(ticks - plain_ticks) * 1000 / kCallsPerRound} * process.ticks_to_ns) >> 32);
  if (ps < kMinCostPs) return kMinCostPs;
  return static_cast<uint32_t>(ps > kMaxCostPs ? kMaxCostPs : ps);
}

}  // namespace

void Calibrate() {
  static shm::Cell cell;
  static shm::Pick description;
  const uint64_t ticks_to_ns = process.ticks_to_ns;
  process.cells = reinterpret_cast<uint64_t>(&cell);
  process.metrics = shm::kTimeMetrics;
  process.picks[0].target = reinterpret_cast<uint64_t>(&fieldcost_empty_function);
  process.picks[0].shared = &description;
  const auto timed = reinterpret_cast<Function>(StubOf(0));
  // The cell shall count ticks meanwhile.
  process.ticks_to_ns = uint64_t{1} << 32;
  uint64_t least = ~uint64_t{0};
  uint64_t before = 0;
  for (int i = 0; i < kCallsPerRound; ++i) {
    timed();
    uint64_t sum = 0;
    for (const shm::RunBucket& bucket : cell.buckets) sum += bucket.sum;
    if (sum - before < least) least = sum - before;
    before = sum;
  }
  const uint64_t plain_ticks = TicksOf(&fieldcost_empty_function);
  const uint64_t timed_ticks = TicksOf(timed);
  no_counters[0] = shm::MakeCallCounter(0, (1U << shm::kMaxSamplingLog2) - 1);
  const uint64_t untimed_ticks = TicksOf(reinterpret_cast<Function>(SamplingStubOf(0)));
  no_counters[0] = 0;
  process.ticks_to_ns = ticks_to_ns;
  process.bias_ticks = least;
  process.timed_call_ps = CostPs(timed_ticks, plain_ticks);
  process.untimed_call_ps = CostPs(untimed_ticks, plain_ticks);
  // The thread takes its slot anew once the run file is there.
  process.picks[0] = {};
  process.threads[0] = {};
  fieldcost_current_thread = nullptr;
}

}  // namespace fieldcost::preload
