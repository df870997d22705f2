#pragma once

#include <array>
#include <cstdint>

#include "common/shm/log2_bucket.h"

namespace fieldcost::stats {

// Sums over Log2Times256() of costs, which give their geometric mean and the spread around it. A
// single cost a thousand times the others hardly affects either. Additive integers: the same bits
// in any order and grouping. Exact for up to 2^36 arbitrary costs; beyond that, sums saturate at
// 2^64 - 1. A plain value.
struct LogSums {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  // in 1/256 octave
  std::uint64_t sum_squares = 0;
  bool operator==(const LogSums&) const = default;

  void Add(std::uint64_t cost);
  void Merge(const LogSums& other);

  // In octaves; 0 if empty. For display and tests only, like all floating point.
  double Mean() const;
  // The sum of squared distances from the mean, in octaves squared; 0 for impossible sums.
  double SquaresAroundMean() const;
};

// Whether costs can have these sums: at most the maximum times the count, Cauchy-Schwarz, and all
// zero without costs.
bool IsPossible(const LogSums& untrusted_sums);

// The costs of calls by the log2 bucket of an integer argument, or of another value that the costs
// may grow with. Slots are those of common/shm/log2_bucket.h.
struct InputSums {
  std::array<LogSums, shm::kBucketSlots> by_bucket{};
  bool operator==(const InputSums&) const = default;

  void Add(std::uint64_t input, std::uint64_t cost);
  void Merge(const InputSums& other);
};

}  // namespace fieldcost::stats
