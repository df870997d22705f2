#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::stats {

// The table of metrics: everything that other code needs to know about each of them. Code that
// treats metrics differently reads a column of it; only code that measures a metric, or derives it
// from others, names it. Numbers and sets of metrics are in common/shm/metric.h, which measured
// programs share.

// The unit that one value of a metric belongs to.
enum class ValueOf : std::uint8_t { kCall, kAllocation, kRun, kReason };

// The kind of its largest plausible values (aggregator/ingest/row_check.cc).
enum class Plausible : std::uint8_t {
  kTime,         // ns of calls
  kCycles,       // of calls
  kFirstCall,    // ns, once per run
  kTimePerRun,   // ns of all calls, once per run
  kCallsPerRun,  // number
  kReasons,      // a set of bits
  kAllocation,   // bytes of one
  kAllocated,    // bytes per call
  kTransferred,  // bytes per call
};

struct MetricTraits {
  Metric metric = Metric::kWallTime;
  std::string_view name;  // in formats, options and JSON; never changes
  std::string_view unit;  // "ns", "cycles", "bytes", "calls" or "reason"
  ValueOf value_of = ValueOf::kCall;
  Plausible plausible = Plausible::kTime;
  // The same in every run of a deterministic program, so that lab tables keep each run's total and
  // any difference is a change.
  bool is_exact = false;
  // How values are shown in sentences: "`where`3 calls `verb` 64 B`what`".
  std::string_view verb = "";
  std::string_view what = "";
  std::string_view where = "";
};

// Ordered by number, beginning with 1.
inline constexpr std::array<MetricTraits, shm::kMaxMetric> kMetrics = {{
    {.metric = Metric::kWallTime,
     .name = "wall_time",
     .unit = "ns",
     .verb = "took",
     .where = "on a machine with little else to do, "},
    {.metric = Metric::kCpuCycles,
     .name = "cpu_cycles",
     .unit = "cycles",
     .plausible = Plausible::kCycles,
     .verb = "took",
     .what = " of the processor's clock"},
    {.metric = Metric::kAllocInclusive,
     .name = "alloc_inclusive",
     .unit = "bytes",
     .plausible = Plausible::kAllocated,
     .is_exact = true,
     .verb = "allocated",
     .what = " of memory"},
    {.metric = Metric::kAllocExclusive,
     .name = "alloc_exclusive",
     .unit = "bytes",
     .plausible = Plausible::kAllocated,
     .verb = "allocated",
     .what = " of memory",
     .where = "not counting the functions it called, "},
    {.metric = Metric::kAllocSize,
     .name = "alloc_size",
     .unit = "bytes",
     .value_of = ValueOf::kAllocation,
     .plausible = Plausible::kAllocation,
     .verb = "took",
     .what = " of memory"},
    {.metric = Metric::kDiskRead,
     .name = "disk_read",
     .unit = "bytes",
     .plausible = Plausible::kTransferred,
     .is_exact = true,
     .verb = "read",
     .what = " from files"},
    {.metric = Metric::kDiskWritten,
     .name = "disk_written",
     .unit = "bytes",
     .plausible = Plausible::kTransferred,
     .is_exact = true,
     .verb = "wrote",
     .what = " to files"},
    {.metric = Metric::kNetReceived,
     .name = "net_received",
     .unit = "bytes",
     .plausible = Plausible::kTransferred,
     .is_exact = true,
     .verb = "received",
     .what = " from the network"},
    {.metric = Metric::kNetSent,
     .name = "net_sent",
     .unit = "bytes",
     .plausible = Plausible::kTransferred,
     .is_exact = true,
     .verb = "sent",
     .what = " to the network"},
    {.metric = Metric::kCallsPerRun,
     .name = "calls_per_run",
     .unit = "calls",
     .value_of = ValueOf::kRun,
     .plausible = Plausible::kCallsPerRun,
     .is_exact = true},
    {.metric = Metric::kFirstCallTime,
     .name = "first_call",
     .unit = "ns",
     .value_of = ValueOf::kRun,
     .plausible = Plausible::kFirstCall,
     .verb = "took"},
    {.metric = Metric::kTimePerRun,
     .name = "time_per_run",
     .unit = "ns",
     .value_of = ValueOf::kRun,
     .plausible = Plausible::kTimePerRun},
    {.metric = Metric::kWallTimeBusy,
     .name = "wall_time_busy",
     .unit = "ns",
     .verb = "took",
     .where = "on a busy machine, "},
    {.metric = Metric::kNotMeasured,
     .name = "not_measured",
     .unit = "reason",
     .value_of = ValueOf::kReason,
     .plausible = Plausible::kReasons},
}};

constexpr bool IsInOrder() {
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    if (static_cast<std::size_t>(kMetrics[i].metric) != i + 1) return false;
  }
  return true;
}
static_assert(IsInOrder());

// REQUIRES: IsKnownMetric().
constexpr const MetricTraits& TraitsOf(Metric metric) {
  return kMetrics[static_cast<std::size_t>(metric) - 1];
}

}  // namespace fieldcost::stats
