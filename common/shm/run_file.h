#pragma once

// The run file, in which a measured program leaves its sums. One file per process image, mapped
// shared, so that it survives any end of the process. Written only by the preload library; the
// daemon does not trust it. Little endian, fixed layout, x86-64 only. No C++ runtime.
//
//   RunHeader | Pick[pick_capacity] | (page) CallCounter[slot][pick_capacity] |
//   (page) Cell[slot][pick][metric of the pick's set]
//
// A slot belongs to one thread at a time. A cell has one writer, which may be killed at any
// instruction, because each update goes through `staged` (see Cell). A long-running process picks
// again from time to time: pick_count grows up to pick_capacity, and nothing is removed.
//
// A pick's calls, timed or not, are the sum over its slots of CallsOf(counter) and, from its first
// metric's cell, of the buckets' counts - untimed + nested + abandoned - sampled.
//
// If one call in N is timed, a timed call counts N times in the buckets: it also represents the
// calls that were not timed. So counts, sums and squares cover all calls that were not nested, and
// counts - untimed is the number of timed calls.

#include <stdint.h>

#include "common/shm/log2_bucket.h"
#include "common/shm/policy_file.h"

namespace fieldcost::shm {

inline constexpr char kRunMagic[8] = {'f', 'c', 'r', 'u', 'n', 'f', 'i', 'l'};
inline constexpr uint32_t kRunVersion = 1;
inline constexpr uint32_t kThreadSlots = 256;
inline constexpr uint32_t kMaxMetricsPerPick = 9;
inline constexpr char kRunFileSuffix[] = ".run";
// Files of kRunAsked have their own limit, so that they do not displace runs of the field.
inline constexpr char kAskedRunPrefix[] = "asked-";
inline constexpr uint32_t kMaxAskedRunFiles = 256;

struct RunBucket {
  uint64_t count;
  uint64_t sum;  // within one run: 2^64 ns are 584 years
  uint64_t sumsq_low;
  uint64_t sumsq_high;
};

// One histogram. To add a value, the writer computes the new contents of its bucket and of
// `untimed`, stores them in `staged` and `staged_untimed`, sets `staged_slot` to slot + 1 (the
// commit), copies them to their places, and sets `staged_slot` to 0. If staged_slot != 0 in the
// file of a dead process, the reader copies them itself. For a running process, the reader uses
// `sequence` (odd while writing) to detect that it must read again.
struct Cell {
  uint32_t sequence;
  uint32_t staged_slot;
  RunBucket staged;
  uint64_t staged_untimed;
  uint64_t untimed;    // the part of the buckets' counts that was represented, not timed
  uint64_t abandoned;  // calls that never returned here: longjmp, exception, thread exit
  uint64_t nested;     // calls not timed because their thread was already measuring
  uint64_t sampled;    // calls counted by the CallCounter that were then measured after all
  uint64_t reserved[2];
  RunBucket buckets[kBucketSlots];
};
static_assert(sizeof(Cell) == 96 + 65 * 32 && sizeof(Cell) % 64 == 0, "whole cache lines");

// A timed value represents at most 2^kMaxSamplingLog2 calls. It represents fewer (the same number
// in all its sums) if value times weight would exceed this limit: 128 such calls of a thread still
// fit into 64 bits.
inline constexpr uint64_t kMaxWeightedValue = uint64_t{1} << 57;

// Counts calls if only a few are timed. One word per thread and pick, so that a call costs one
// instruction: the upper 16 bits are the signed number of calls until the next timed one, the lower
// 48 bits are the count reached then.
using CallCounter = uint64_t;
constexpr uint64_t kCallCountMask = (uint64_t{1} << 48) - 1;
constexpr int32_t GapOf(CallCounter counter) { return static_cast<int16_t>(counter >> 48); }
constexpr uint64_t CallsOf(CallCounter counter) {
  return (counter - static_cast<uint64_t>(static_cast<int64_t>(GapOf(counter)))) & kCallCountMask;
}
constexpr CallCounter MakeCallCounter(uint64_t calls, uint32_t gap) {
  return (uint64_t{gap} << 48) | ((calls + gap) & kCallCountMask);
}
static_assert(CallsOf(MakeCallCounter(7, 3)) == 7 && GapOf(MakeCallCounter(7, 3)) == 3);
static_assert(CallsOf(MakeCallCounter(7, 0) - (uint64_t{1} << 48)) == 8);

struct Pick {
  char soname[64];  // for manual picks, the file's name if there is no soname
  char symbol[256];
  char symbol_version[64];  // empty if unversioned
  uint8_t build_id[32];
  uint32_t build_id_bytes;  // 0..32
  MetricSet metrics;        // of kCellMetrics; there are cells for these, in ascending order
  uint32_t bias_ns;         // already subtracted from every wall time
  uint32_t sampling_log2;   // currently one in 2^this calls is timed; 0 = all
  char module_path[512];    // for the package database on this machine; never leaves it
  uint64_t first_call_ns;   // wall time of the process's first call, plus 1; 0 = none has returned
  uint64_t start_unix_ns;   // when it was picked; the header's if before the program began
  uint64_t end_unix_ns;     // when its slots were restored; 0 = not yet
  // Determine how many runs it represents (selection.h). They change until the pick has ended.
  uint64_t weight_left;          // of the functions called so far, minus those in places before it
  uint32_t watched_per_65536;    // the probability that it was watched
  uint32_t weight;               // its own
  uint32_t slots;                // number of slots found to lead to it
  uint32_t phase;                // PickPhase
  uint32_t picks_wanted;         // places; 0: it represents no runs, or has lost its place
  uint32_t draw_order;           // its place, from 0
  uint32_t watched;              // functions that were watched in its phase
  uint32_t called;               // how many of them had been called when this was last written
  uint32_t selection_per_65536;  // from the policy when its phase began
  uint32_t flags;                // PickFlags
  uint32_t not_measured;         // NotMeasured: why metrics have no values; added at any time
  uint32_t reserved;
};
static_assert(sizeof(Pick) == 64 + 256 + 64 + 32 + 16 + 512 + 48 + 32);

enum PickPhase : uint32_t {
  kPickActive = 0,
  kPickEnded = 1,    // its time was over, or it was replaced by another
  kPickDropped = 2,  // measuring it would have cost too much
};

enum PickFlags : uint32_t {
  kPickLater = 2,  // of a phase after the run's first, which was drawn separately
  kPickBusy = 4,   // the machine was busy when its phase began
};

enum RunFlags : uint32_t {
  kRunForced = 1,  // picked manually (`fieldcost run --pick`): stays on this machine
  // Measured only because the user requested this run (`fieldcost run`), although it was not drawn
  // or could not belong to the field: stays on this machine, too, and represents no runs.
  kRunAsked = 2,
};

struct RunHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // sizeof(RunHeader)
  uint64_t size_bytes;    // of the whole file
  uint32_t flags;         // RunFlags
  uint32_t policy_serial;
  uint32_t pid;
  uint32_t pick_count;  // grows, each time after the new pick has been written
  uint32_t pick_capacity;
  uint32_t selection_per_65536;  // from the policy, for re-weighting
  uint64_t start_unix_ns;        // CLOCK_REALTIME at the start of the run
  uint64_t tsc_to_ns_multiplier;
  uint64_t start_tsc;
  uint32_t metrics_per_pick;  // the same for every pick of a run
  uint32_t thread_slots;      // kThreadSlots
  uint64_t counters_offset;   // multiple of 4096
  uint64_t cells_offset;      // multiple of 4096
  uint64_t random_draw;       // seed of the draws, so that totals can be re-weighted
  uint64_t lost_calls;        // calls not recorded: no slot, no record, no disk space
  uint32_t complete;          // 1 once everything above has been written; 0: ignore the file
  uint32_t attached;          // 1 while measuring
  uint32_t timed_call_ps;     // cost of measuring to the program per timed call, in picoseconds
  uint32_t untimed_call_ps;   // the same per call that is only counted
  uint32_t bias_ps;           // subtracted from every wall time; 0 = unknown
  uint32_t bias_spread_ps;    // its interquartile range when it was determined: its uncertainty
  uint32_t time_per_65536;    // share of such runs that record wall time; 0 = unknown
  uint32_t reserved32;
  uint64_t request_id;  // FIELDCOST_ASKED of the requesting command; 0: none or unknown
  uint64_t reserved[5];
};
static_assert(sizeof(RunHeader) == 192);

constexpr uint64_t RoundUpToPage(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
constexpr uint64_t CountersOffset(uint32_t pick_capacity) {
  return RoundUpToPage(sizeof(RunHeader) + pick_capacity * sizeof(Pick));
}
// Distance between the counters of two threads: a multiple of the cache line.
constexpr uint64_t CounterSlotBytes(uint32_t pick_capacity) {
  return (uint64_t{pick_capacity} * sizeof(CallCounter) + 63) / 64 * 64;
}
constexpr uint64_t CounterOffset(uint32_t pick_capacity, uint32_t slot, uint32_t pick) {
  return CountersOffset(pick_capacity) + slot * CounterSlotBytes(pick_capacity) +
         pick * sizeof(CallCounter);
}
constexpr uint64_t CellsOffset(uint32_t pick_capacity) {
  return RoundUpToPage(CountersOffset(pick_capacity) +
                       kThreadSlots * CounterSlotBytes(pick_capacity));
}
constexpr uint64_t CellOffset(uint32_t pick_capacity, uint32_t metrics_per_pick, uint32_t slot,
                              uint32_t pick, uint32_t metric_index) {
  return CellsOffset(pick_capacity) +
         ((uint64_t{slot} * pick_capacity + pick) * metrics_per_pick + metric_index) * sizeof(Cell);
}
constexpr uint64_t RunFileBytes(uint32_t pick_capacity, uint32_t metrics_per_pick) {
  return RoundUpToPage(CellOffset(pick_capacity, metrics_per_pick, kThreadSlots, 0, 0));
}

}  // namespace fieldcost::shm
