#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "common/base/result.h"
#include "common/base/units.h"

namespace fieldcost::bench {

// Returns the `percent`-th percentile (nearest rank). Reorders the values. REQUIRES: `values` is
// not empty; 0 <= percent <= 100.
double Percentile(std::vector<double>& values, double percent);

// Quantiles of durations, in milliseconds.
struct Quantiles {
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
};
// REQUIRES: `times_ms` is not empty.
Quantiles QuantilesOf(std::vector<double> times_ms);

enum class SyncCall { kFsync, kFdatasync };

// The size of a write before each sync: that of a batch before compression.
inline constexpr std::size_t kSyncedBytes = 128 * kKiB;
// The file that is written is replaced when it has this size, which bounds the room it takes.
inline constexpr std::uint64_t kMaxSyncFileBytes = 64 * kMiB;

// Called between two operations with the number of finished ones; false stops the measurement.
using Continue = std::function<bool(std::uint64_t done)>;

// Appends kSyncedBytes to a new file `count` times, each followed by a sync; returns how long write
// and sync took together. The file is removed. kUnavailable: stopped; kIo, kPermissionDenied.
// REQUIRES: count > 0.
Result<Quantiles> MeasureSyncs(const std::filesystem::path& directory, SyncCall call,
                               std::uint64_t count, const Continue& go_on = {});

// Writes `mebibytes` sequentially to a new file and syncs it once; returns MiB per second. The file
// is removed. Errors as MeasureSyncs(). REQUIRES: mebibytes > 0.
Result<double> MeasureWriting(const std::filesystem::path& directory, std::uint64_t mebibytes,
                              const Continue& go_on = {});

// Whether the directory's file system keeps its files in memory, so that no sync makes anything
// durable. kIo.
Result<bool> IsInMemory(const std::filesystem::path& directory);

}  // namespace fieldcost::bench
