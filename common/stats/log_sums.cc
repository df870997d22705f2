#include "common/stats/log_sums.h"

#include "common/shm/log2_fixed.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {
namespace {

constexpr double kStepsPerOctave = 256;

}  // namespace

void LogSums::Add(std::uint64_t cost) {
  const std::uint64_t steps = shm::Log2Times256(cost);
  Merge({.count = 1, .sum = steps, .sum_squares = steps * steps});
}

void LogSums::Merge(const LogSums& other) {
  bool saturated = false;
  count = SaturatingAdd(count, other.count, saturated);
  sum = SaturatingAdd(sum, other.sum, saturated);
  sum_squares = SaturatingAdd(sum_squares, other.sum_squares, saturated);
}

double LogSums::Mean() const {
  if (count == 0) return 0;
  return static_cast<double>(sum) / static_cast<double>(count) / kStepsPerOctave;
}

double LogSums::SquaresAroundMean() const {
  if (count == 0 || !IsPossible(*this)) return 0;
  const Uint128 times_count = Uint128{count} * sum_squares - Uint128{sum} * sum;
  return static_cast<double>(times_count) / static_cast<double>(count) /
         (kStepsPerOctave * kStepsPerOctave);
}

bool IsPossible(const LogSums& untrusted_sums) {
  const Uint128 count = untrusted_sums.count;
  const Uint128 sum = untrusted_sums.sum;
  const Uint128 squares = untrusted_sums.sum_squares;
  return sum <= count * shm::kMostLog2Times256 && squares <= sum * shm::kMostLog2Times256 &&
         sum * sum <= count * squares;
}

void InputSums::Add(std::uint64_t input, std::uint64_t cost) {
  by_bucket[shm::SlotOf(input)].Add(cost);
}

void InputSums::Merge(const InputSums& other) {
  for (std::size_t slot = 0; slot < by_bucket.size(); ++slot) {
    by_bucket[slot].Merge(other.by_bucket[slot]);
  }
}

}  // namespace fieldcost::stats
