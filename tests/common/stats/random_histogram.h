#pragma once

#include <random>

#include "common/stats/cost_histogram.h"

namespace fieldcost::stats {

// Up to `most` values from 0 to 2^bits - 1, spread evenly over the orders of magnitude.
inline CostHistogram RandomHistogram(std::mt19937_64& random, unsigned most = 40,
                                     unsigned bits = 56) {
  CostHistogram histogram;
  for (auto left = random() % (most + 1); left > 0; --left) {
    const auto shift = 64 - static_cast<unsigned>(random() % (bits + 1));
    histogram.Add(shift == 64 ? 0 : random() >> shift);
  }
  return histogram;
}

}  // namespace fieldcost::stats
