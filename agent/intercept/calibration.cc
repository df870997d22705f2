#include "agent/intercept/calibration.h"

#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {
namespace {

constexpr int kRounds = 4;
constexpr int kBiasRounds = 16;
constexpr int kCallsPerBiasRound = 16;

// Some counters advance in steps of 10 ns. To avoid synchronising with them, delays each call a
// little more than the previous one: 16 calls are spread over at least 30 ns.
void Dither(int call) {
  for (int i = 0; i < 4 * call; ++i) __asm__ volatile("");
}

}  // namespace

uint64_t TicksOfCalls(KnownFunction function) {
  uint64_t least = ~uint64_t{0};
  for (int round = 0; round < kRounds; ++round) {
    uint64_t value = 1;
    const uint64_t begin = ReadTimeStampInOrder();
    for (int i = 0; i < kCallsInARow; ++i) value = function(value);
    const uint64_t ticks = ReadTimeStampInOrder() - begin;
    if (ticks < least) least = ticks;
  }
  return least;
}

Bias MeasureBias(KnownFunction timed, uint64_t (*recorded)(const void*), const void* of) {
  uint64_t sums[kBiasRounds];  // ascending
  uint64_t value = 1;
  for (int round = -1; round < kBiasRounds; ++round) {
    const uint64_t before = recorded(of);
    for (int call = 0; call < kCallsPerBiasRound; ++call) {
      Dither(call);
      value = timed(value);
    }
    if (round < 0) continue;  // warms up memory and caches
    const uint64_t sum = recorded(of) - before;
    int place = round;
    for (; place > 0 && sums[place - 1] > sum; --place) sums[place] = sums[place - 1];
    sums[place] = sum;
  }
  const uint64_t known =
      TicksOfCalls(&fieldcost_known_function) * kCallsPerBiasRound / kCallsInARow;
  constexpr uint64_t kHalf = kCallsPerBiasRound / 2;
  const uint64_t typical = sums[kBiasRounds / 2];
  return {typical > known ? (typical - known + kHalf) / kCallsPerBiasRound : 0,
          (sums[kBiasRounds * 3 / 4] - sums[kBiasRounds / 4] + kHalf) / kCallsPerBiasRound};
}

}  // namespace fieldcost::intercept
