#include "agent/preload/preload_calibration.h"

#include <stdint.h>

#include "agent/intercept/calibration.h"
#include "agent/intercept/thunk.h"
#include "agent/preload/measuring.h"

namespace fieldcost::preload {

namespace {

constexpr uint32_t kMinCostPs = 500;        // the minimum cost of a counted call
constexpr uint64_t kMaxCostPs = 1'000'000;  // one microsecond: higher values are outliers

uint32_t CostPs(uint64_t ticks, uint64_t plain_ticks) {
  if (ticks <= plain_ticks) return kMinCostPs;
  __extension__ using Wide = unsigned __int128;
  const auto ps = static_cast<uint64_t>(
      (Wide{(ticks - plain_ticks) * 1000 / intercept::kCallsInARow} * process.ticks_to_ns) >> 32);
  if (ps < kMinCostPs) return kMinCostPs;
  return static_cast<uint32_t>(ps > kMaxCostPs ? kMaxCostPs : ps);
}

uint64_t SumOf(const void* cell) {
  uint64_t sum = 0;
  for (const shm::RunBucket& bucket : static_cast<const shm::Cell*>(cell)->buckets) {
    sum += bucket.sum;
  }
  return sum;
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
  const auto timed = reinterpret_cast<intercept::KnownFunction>(intercept::StubOf(0));
  // The cell counts ticks meanwhile.
  process.ticks_to_ns = uint64_t{1} << 32;
  const intercept::Bias bias = intercept::MeasureBias(timed, SumOf, &cell);
  process.bias_ticks = bias.ticks;
  process.bias_spread_ticks = bias.spread_ticks;
  process.picks[0].target = reinterpret_cast<uint64_t>(&intercept::fieldcost_empty_function);
  process.threads[0].records[0].target = process.picks[0].target;
  const uint64_t plain_ticks = intercept::TicksOfCalls(&intercept::fieldcost_empty_function);
  const uint64_t timed_ticks = intercept::TicksOfCalls(timed);
  no_counters[0] = shm::MakeCallCounter(0, (1U << shm::kMaxSamplingLog2) - 1);
  const uint64_t untimed_ticks = intercept::TicksOfCalls(
      reinterpret_cast<intercept::KnownFunction>(intercept::SamplingStubOf(0)));
  no_counters[0] = 0;
  process.ticks_to_ns = ticks_to_ns;
  process.timed_call_ps = CostPs(timed_ticks, plain_ticks);
  process.untimed_call_ps = CostPs(untimed_ticks, plain_ticks);
  // The thread takes a slot again once the run file exists.
  process.picks[0] = {};
  process.threads[0] = {};
  fieldcost_current_thread = nullptr;
}

}  // namespace fieldcost::preload
