#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/bench/disk.h"
#include "aggregator/bench/ingest_rate.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::bench {

struct MachineOptions {
  std::filesystem::path directory;  // on the disk to measure
  std::uint64_t syncs = 1'000;      // of each kind
  std::uint64_t write_mib = 256;
  std::uint64_t agents = 250;  // with 8 batches each
};

// The measurements of a machine for a service, with one store on one disk.
struct MachineReport {
  bool in_memory = false;  // the directory is not on a disk
  Quantiles fsync;         // of 128 KiB
  Quantiles fdatasync;
  double write_mib_per_second = 0;
  IngestRate ingest;
};

// Called during each step ("syncs", "batches", …) with what is done and the total, by several
// threads; false stops the measurement.
using Progress =
    std::function<bool(std::string_view step, std::uint64_t done, std::uint64_t total)>;

// The room on the disk that MeasureMachine() needs, in bytes.
std::uint64_t NeededRoom(const MachineOptions& options);

// Measures in a new directory below `options.directory`, and removes it, also after an error.
// kNotFound, kPermissionDenied: the directory; kIo: the disk failed, or has too little room;
// kUnavailable: stopped. REQUIRES: all numbers are at least 1.
Result<MachineReport> MeasureMachine(const MachineOptions& options, const Clock& clock,
                                     const Progress& progress = {});

// The conclusions from a report. A pure function.
struct Verdict {
  // That one core serves if each sends one full batch (wire::kBatchTargetBytes).
  std::uint64_t agents_per_hour = 0;
  bool is_limited_by_cpu = false;  // otherwise by the disk
  bool is_durable = false;         // false: the directory is in memory
  std::vector<std::string> sentences;
};
Verdict Judge(const MachineReport& report);

// The part of the measured rate at which a service should be run: latency was measured there, and
// the rest is for peaks and publications.
inline constexpr double kLoadShare = 0.5;
// The part of the rate that remains if each batch needs a TLS handshake (COSTS.md, row 7).
inline constexpr double kHandshakeShare = 0.7;
// Above this part of a core, the CPU limits the rate.
inline constexpr double kCpuLimitShare = 0.8;
// Faster syncs than this, in milliseconds, are likely to come from a cache.
inline constexpr double kSuspiciousSyncMs = 0.05;

}  // namespace fieldcost::bench
