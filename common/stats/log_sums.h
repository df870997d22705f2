#pragma once

#include <array>
#include <cstdint>

#include "common/shm/log2_bucket.h"

namespace fieldcost::stats {

// Sums over Log2Times256() of costs: what their geometric mean and the spread around it follow
// from, of which one cost a thousand times the others takes little. Additive integers: any order,
// any grouping, the same bits. Exact for 2^36 costs, whatever they are; a sum that would pass
// 2^64 - 1 stays there. A plain value.
struct LogSums {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  // in 1/256 octave
  std::uint64_t sum_squares = 0;
  bool operator==(const LogSums&) const = default;

  void Add(std::uint64_t cost);
  void Merge(const LogSums& other);

  // Octaves; 0 if empty. For display and tests, as all floating point.
  double Mean() const;
  // The sum of squared distances from the mean, in octaves squared; 0 for impossible sums.
  double SquaresAroundMean() const;
};

// Whether costs can have these sums: not more than the greatest for each, Cauchy-Schwarz, none
// without costs.
bool IsPossible(const LogSums& untrusted_sums);

// The costs of calls by the log2 bucket of an integer argument of theirs, or of whatever else they
// may grow with: slots are those of common/shm/log2_bucket.h.
struct InputSums {
  std::array<LogSums, shm::kBucketSlots> by_bucket{};
  bool operator==(const InputSums&) const = default;

  void Add(std::uint64_t input, std::uint64_t cost);
  void Merge(const InputSums& other);
};

}  // namespace fieldcost::stats
