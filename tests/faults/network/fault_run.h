#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace fieldcost::faults {

// FIELDCOST_FAULT_LONG=1 runs as many cases as are needed to find rare failures; the default is
// limited to what fits into a CI run.
inline bool LongForm() {
  const char* value = std::getenv("FIELDCOST_FAULT_LONG");
  return value != nullptr && std::string(value) == "1";
}

// Returns FIELDCOST_FAULT_SEED or else a random seed, and prints it so that a failure can be
// repeated.
inline std::uint64_t Seed() {
  static const std::uint64_t seed = [] {
    const char* value = std::getenv("FIELDCOST_FAULT_SEED");
    const std::uint64_t chosen = value != nullptr && *value != '\0'
                                     ? std::strtoull(value, nullptr, 10)
                                     : std::uint64_t{std::random_device()()};
    fmt::print("FIELDCOST_FAULT_SEED={}\n", chosen);
    std::fflush(stdout);
    return chosen;
  }();
  return seed;
}

// Random numbers that depend only on the seed and `what`.
inline std::mt19937_64 Randomness(std::uint64_t what) {
  std::seed_seq sequence{Seed(), Seed() >> 32, what, what >> 32};
  return std::mt19937_64(sequence);
}

inline std::uint64_t Below(std::mt19937_64& random, std::uint64_t bound) {
  return random() % bound;
}

}  // namespace fieldcost::faults
