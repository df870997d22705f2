#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "aggregator/bench/disk.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::bench {

// Limits each of the two parts, so that a slow disk cannot take hours.
inline constexpr std::chrono::seconds kMaxPart{60};

// Threads that handle batches at the same time, as in the service by default. More of them mean
// more batches per sync.
inline constexpr unsigned kIngestThreads = 16;

struct IngestLoad {
  std::uint64_t agents = 250;
  std::uint64_t batches_per_agent = 8;  // half of them for each part
  std::uint64_t keys = 200'000;
};

struct IngestRate {
  // Part 1: as fast as possible.
  std::uint64_t batches = 0;
  std::uint64_t bucket_adds = 0;
  double seconds = 0;      // wall time until all are acknowledged and the sums are on disk
  double cpu_seconds = 0;  // of the whole process in the same time
  // Part 2: at half of that rate, regardless of whether earlier batches are acknowledged.
  double offered_per_second = 0;  // batches
  std::uint64_t acknowledged = 0;
  Quantiles ack;  // from the time at which a batch was due to its response

  double batches_per_second() const { return static_cast<double>(batches) / seconds; }
  double bucket_adds_per_second() const { return static_cast<double>(bucket_adds) / seconds; }
};

// Adds synthetic batches of wire::kBatchTargetBytes to a new store in `directory`, which must be
// empty, by the service's own code for requests: signatures, checks, ledger, log and sums, but no
// connections and no TLS. All on one core. Leaves the files. `on_made` is called while the batches
// are made, with the number of finished agents; `on_sent` with the number of acknowledged batches
// of both parts; both by several threads. kUnavailable: stopped by one of them; kInternal: a batch
// was refused; otherwise the store's errors. REQUIRES: at least two batches.
Result<IngestRate> MeasureIngest(const std::filesystem::path& directory, const IngestLoad& load,
                                 const Clock& clock, const Continue& on_made = {},
                                 const Continue& on_sent = {});

}  // namespace fieldcost::bench
