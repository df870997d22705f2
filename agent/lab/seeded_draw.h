#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/shm/mix.h"

namespace fieldcost::lab {

// Random numbers that are the same with every standard library: std::mt19937_64 without the
// standard distributions, which are implementation-defined. Not thread-safe.
class SeededDraw {
 public:
  SeededDraw(std::uint64_t seed, std::uint64_t stream)
      : bits_(shm::MixBits(seed ^ shm::MixBits(stream))) {}

  // Uniform in 0 .. bound - 1. REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    FIELDCOST_CHECK(bound > 0);
    const std::uint64_t unfair = (~std::uint64_t{0} - bound + 1) % bound;  // 2^64 mod bound
    std::uint64_t bits = bits_();
    while (bits < unfair) bits = bits_();
    return bits % bound;
  }
  // Fisher-Yates shuffle (Durstenfeld 1964).
  template <typename Value>
  void Shuffle(std::vector<Value>& values) {
    for (std::size_t left = values.size(); left > 1; --left) {
      std::swap(values[left - 1], values[Below(left)]);
    }
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace fieldcost::lab
