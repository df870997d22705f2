#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "aggregator/store/batch_stages.h"

namespace fieldcost::admin {

// Durations: counts in fixed buckets, and the sum. `kUpperBounds`: of the buckets, in seconds,
// ascending; one more bucket is above the last. Thread-safe; numbers read during an Add() may not
// fit each other.
template <const auto& kUpperBounds>
class Durations {
 public:
  static constexpr const auto& kBounds = kUpperBounds;
  using CountsOfBuckets = std::array<std::uint64_t, kUpperBounds.size() + 1>;

  void Add(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(duration.count()), std::memory_order_relaxed);
  }

  // Counts per bucket, not cumulative.
  CountsOfBuckets Counts() const {
    CountsOfBuckets counts{};
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i];
    return counts;
  }
  double SumSeconds() const { return static_cast<double>(nanoseconds_.load()) * 1e-9; }

 private:
  std::array<std::atomic<std::uint64_t>, kUpperBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

// Whole requests.
inline constexpr std::array kRequestBounds = std::to_array<double>(
    {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0});
using Latency = Durations<kRequestBounds>;

// The stages of a batch. Most take less than a millisecond.
inline constexpr std::array kStageBounds =
    std::to_array<double>({0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                           0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0});
using StageLatency = Durations<kStageBounds>;

// How long the stages of batches took, and the syncs of the store's log. Thread-safe.
class BatchStageLatency {
 public:
  // Adds every stage that the batch got to the end of.
  void Add(const store::StageTimes& times) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (const auto time = times.of(static_cast<store::BatchStage>(i))) stages_[i].Add(*time);
    }
  }
  void AddSync(std::chrono::nanoseconds duration) { syncs_.Add(duration); }

  const StageLatency& of(store::BatchStage stage) const {
    return stages_[static_cast<std::size_t>(stage)];
  }
  const StageLatency& syncs() const { return syncs_; }

 private:
  std::array<StageLatency, store::kBatchStages> stages_;
  StageLatency syncs_;
};

}  // namespace fieldcost::admin
