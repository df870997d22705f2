#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace fieldcost::admin {

// The durations of requests: counts in fixed buckets, and the sum. Thread-safe.
class Latency {
 public:
  // Upper bounds of the buckets, in seconds. One more bucket is above the last.
  static constexpr std::array kBounds = std::to_array<double>(
      {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0});

  void Add(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
    ++counts_[bucket];
    nanoseconds_ += static_cast<std::uint64_t>(duration.count());
  }

  // Counts per bucket, not cumulative.
  std::array<std::uint64_t, kBounds.size() + 1> Counts() const {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i];
    return counts;
  }
  double SumSeconds() const { return static_cast<double>(nanoseconds_.load()) * 1e-9; }

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace fieldcost::admin
