#pragma once

// What is measured. Shared with the preload library: no C++ runtime.

#include <stdint.h>

namespace fieldcost::shm {

// Numbers are part of every format and never reused. Units in the comment.
enum class Metric : uint8_t {
  kWallTime = 1,        // ns per call
  kCpuCycles = 2,       // reference cycles per call (lab)
  kAllocInclusive = 3,  // bytes allocated during the call, callees included
  kAllocExclusive = 4,  // bytes allocated by the function's own code
  kAllocSize = 5,       // bytes of each single allocation made during the call
  kDiskRead = 6,        // bytes read by file I/O during the call
  kDiskWritten = 7,     // bytes written by file I/O during the call
  kNetReceived = 8,     // bytes received by sockets during the call
  kNetSent = 9,         // bytes sent by sockets during the call
};

inline constexpr unsigned kMaxMetric = 9;

// A set of metrics, bit number = metric number.
using MetricSet = uint32_t;
constexpr MetricSet BitOf(Metric metric) { return MetricSet{1} << static_cast<unsigned>(metric); }

// What `--metrics time` and `--metrics alloc` mean.
inline constexpr MetricSet kTimeMetrics = BitOf(Metric::kWallTime);
inline constexpr MetricSet kAllocMetrics =
    BitOf(Metric::kAllocInclusive) | BitOf(Metric::kAllocExclusive) | BitOf(Metric::kAllocSize);

}  // namespace fieldcost::shm
