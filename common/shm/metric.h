#pragma once

// The metrics. Shared with the preload library: no C++ runtime.

#include <stdint.h>

namespace fieldcost::shm {

// The numbers are part of every format and never reused. Units are in the comments.
enum class Metric : uint8_t {
  kWallTime = 1,        // ns per call, in runs that began on a machine that was not busy
  kCpuCycles = 2,       // reference cycles (time stamp counter ticks) from call to return
  kAllocInclusive = 3,  // bytes allocated during the call, callees included
  kAllocExclusive = 4,  // bytes allocated by the function's own code
  kAllocSize = 5,       // bytes of each allocation made during the call
  kDiskRead = 6,        // bytes read by file I/O during the call
  kDiskWritten = 7,     // bytes written by file I/O during the call
  kNetReceived = 8,     // bytes received by sockets during the call
  kNetSent = 9,         // bytes sent by sockets during the call
  // One value per run and pick; no cell, see run_file.h.
  kCallsPerRun = 10,    // calls, timed or not; the sum over runs is the exact number of calls
  kFirstCallTime = 11,  // ns of the first call in a run; also included in kWallTime
  // Total ns of all calls in a run. Weighted by the number of runs that this run represents
  // (selection.h), so that the sum estimates that of all runs, measured or not.
  kTimePerRun = 12,
  // kWallTime of runs that began on a busy machine; it has no cell.
  kWallTimeBusy = 13,
  // One value per run and pick for each reason why some of its metrics were not measured: the
  // reason, a single bit of NotMeasured. Has no cell.
  kNotMeasured = 14,
};

inline constexpr unsigned kMaxMetric = 14;

// Why bytes of a function's calls could not be counted; a set of bits. A metric that is not
// measured has no value, never 0.
enum NotMeasured : uint32_t {
  kDiskInsideLibc = 1,  // libc moves them with system calls of its own: stdio
  kReadMapped = 2,      // a library has mapped a file and reads it without calls
  kWrittenMapped = 4,   // the same, with a mapping that is written to
  kNetInsideLibc = 8,   // like the first, for sockets: resolver, syslog
  kAllocInLoader = 16,  // the call loaded a library: the loader allocates without a slot
};
inline constexpr uint32_t kAllNotMeasured = 31;

// A set of metrics, bit number = metric number.
using MetricSet = uint32_t;
constexpr MetricSet BitOf(Metric metric) { return MetricSet{1} << static_cast<unsigned>(metric); }

// The metrics of `--metrics time`, `alloc`, `io` and `cycles`.
inline constexpr MetricSet kTimeMetrics = BitOf(Metric::kWallTime);
inline constexpr MetricSet kAllocMetrics =
    BitOf(Metric::kAllocInclusive) | BitOf(Metric::kAllocExclusive) | BitOf(Metric::kAllocSize);
inline constexpr MetricSet kIoMetrics = BitOf(Metric::kDiskRead) | BitOf(Metric::kDiskWritten) |
                                        BitOf(Metric::kNetReceived) | BitOf(Metric::kNetSent);
inline constexpr MetricSet kCycleMetrics = BitOf(Metric::kCpuCycles);
// The metrics that have cells in a run file.
inline constexpr MetricSet kCellMetrics = kTimeMetrics | kCycleMetrics | kAllocMetrics | kIoMetrics;

// The metrics that have no value for these reasons.
constexpr MetricSet MetricsNotMeasured(uint32_t reasons) {
  MetricSet metrics = (reasons & kAllocInLoader) != 0 ? kAllocMetrics : 0;
  if ((reasons & (kDiskInsideLibc | kReadMapped)) != 0) metrics |= BitOf(Metric::kDiskRead);
  if ((reasons & (kDiskInsideLibc | kWrittenMapped)) != 0) metrics |= BitOf(Metric::kDiskWritten);
  if ((reasons & kNetInsideLibc) != 0) {
    metrics |= BitOf(Metric::kNetReceived) | BitOf(Metric::kNetSent);
  }
  return metrics;
}

}  // namespace fieldcost::shm
