#pragma once

// The run file: where a measured program leaves its sums. One file a process image, mapped shared,
// so that it outlives any end of the process. Written by the preload library only; the daemon
// treats it as hostile. Little endian, fixed layout, x86-64 only. No C++ runtime.
//
//   RunHeader | Pick[pick_capacity] | (page) CallCounter[slot][pick_capacity] |
//   (page) Cell[slot][pick][metric of the pick's set]
//
// A slot belongs to one thread at a time. A cell has one writer; the writer survives being killed
// at any instruction because each update goes through `staged` (see Cell). A process that runs for
// long picks anew from time to time: pick_count grows up to pick_capacity, and nothing is removed.
//
// A pick's calls, timed or not, are the sum over its slots of CallsOf(counter) and, from its first
// metric's cell, of the buckets' counts - untimed + nested + abandoned - sampled.
//
// A call that was timed where one in N is counts N times in the buckets: it stands for those that
// were not timed. So counts, sums and squares speak of all calls that were not nested, and counts -
// untimed are those that were timed.

#include <stdint.h>

#include "common/shm/log2_bucket.h"
#include "common/shm/policy_file.h"

namespace fieldcost::shm {

inline constexpr char kRunMagic[8] = {'f', 'c', 'r', 'u', 'n', 'f', 'i', 'l'};
// Programs that wrote earlier versions drew their picks in another way: refused.
inline constexpr uint32_t kRunVersion = 5;
inline constexpr uint32_t kThreadSlots = 256;
inline constexpr uint32_t kMaxMetricsPerPick = 9;
inline constexpr char kRunFileSuffix[] = ".run";
// Files of kRunAsked have a limit of their own, so that they take no place from runs of the field.
inline constexpr char kAskedRunPrefix[] = "asked-";
inline constexpr uint32_t kMaxAskedRunFiles = 256;

struct RunBucket {
  uint64_t count;
  uint64_t sum;  // of one run: 2^64 ns are 584 years
  uint64_t sumsq_low;
  uint64_t sumsq_high;
};

// One histogram. The writer of a new value first computes the new contents of its bucket and of
// `untimed`, puts them into `staged` and `staged_untimed`, sets `staged_slot` to slot + 1 (the
// commit), copies them to their places, and sets `staged_slot` to 0. A reader that finds
// staged_slot != 0 in a dead process's file copies them itself. A reader of a living one uses
// `sequence` (odd while writing) to read again.
struct Cell {
  uint32_t sequence;
  uint32_t staged_slot;
  RunBucket staged;
  uint64_t staged_untimed;
  uint64_t untimed;    // of the buckets' counts, what was not timed but stood for
  uint64_t abandoned;  // calls that never returned here: longjmp, exception, thread exit
  uint64_t nested;     // calls not timed because their thread was already measuring
  uint64_t sampled;    // calls counted by the CallCounter that went on to be measured after all
  uint64_t reserved[2];
  RunBucket buckets[kBucketSlots];
};
static_assert(sizeof(Cell) == 96 + 65 * 32 && sizeof(Cell) % 64 == 0, "whole cache lines");

// A timed value represents at most 2^kMaxSamplingLog2 calls, and fewer (all its sums the same
// number) if value times weight would exceed this: 128 such calls of a thread still fit its 64
// bits.
inline constexpr uint64_t kMaxWeightedValue = uint64_t{1} << 57;

// Counts calls if only a few are timed, with one word per thread and pick, so that a call costs one
// instruction: the upper 16 bits are the signed number of calls until the next timed one, the lower
// 48 bits the count that is reached then.
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
  char soname[64];  // of what is picked by hand the file's name, if it has none
  char symbol[256];
  char symbol_version[64];  // empty if unversioned
  uint8_t build_id[32];
  uint32_t build_id_bytes;  // 0..32
  MetricSet metrics;        // of kCellMetrics; cells exist for these, in ascending metric number
  uint32_t bias_ns;         // already subtracted from every wall time
  uint32_t sampling_log2;   // of 2^this calls one is timed at present; 0 = all
  char module_path[512];    // for the package database on this machine; never leaves it
  uint64_t first_call_ns;   // wall time of the process's first call + 1; 0 = none has returned
  uint64_t start_unix_ns;   // when it was picked; the header's if that was before the program began
  uint64_t end_unix_ns;     // when its slots were given back; 0 = not yet
  // From these follows for how many runs it stands (selection.h). Changes until the pick has ended.
  uint64_t weight_left;          // of the functions called until now, less those placed before it
  uint32_t watched_per_65536;    // the probability that it was watched
  uint32_t weight;               // its own
  uint32_t slots;                // how many were found to lead to it
  uint32_t phase;                // PickPhase
  uint32_t picks_wanted;         // places; 0: it stands for nothing, or has lost its place
  uint32_t draw_order;           // its place, from 0
  uint32_t watched;              // functions that were watched in its phase
  uint32_t called;               // of these, how many had been called when it was last written
  uint32_t selection_per_65536;  // the policy's when its phase began
  uint32_t flags;                // PickFlags
  uint32_t
      not_measured;  // NotMeasured: values of these metrics are none; bits are added at any time
  uint32_t reserved;
};
static_assert(sizeof(Pick) == 64 + 256 + 64 + 32 + 16 + 512 + 48 + 32);

enum PickPhase : uint32_t {
  kPickActive = 0,
  kPickEnded = 1,    // its time was over, or it made room for another
  kPickDropped = 2,  // measuring it would have cost too much
};

enum PickFlags : uint32_t {
  kPickLater = 2,  // of a phase after the run's first: chosen by a coin of its own
  kPickBusy = 4,   // the machine had much to do when its phase began
};

enum RunFlags : uint32_t {
  kRunForced = 1,  // picked by hand (`fieldcost run --pick`): stays on this machine
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
  uint32_t pick_count;  // grows, each time after the new pick is written
  uint32_t pick_capacity;
  uint32_t selection_per_65536;  // the policy's, for re-weighting
  uint64_t start_unix_ns;        // CLOCK_REALTIME at the start of the run
  uint64_t tsc_to_ns_multiplier;
  uint64_t start_tsc;
  uint32_t metrics_per_pick;  // the same for every pick of a run
  uint32_t thread_slots;      // kThreadSlots
  uint64_t counters_offset;   // multiple of 4096
  uint64_t cells_offset;      // multiple of 4096
  uint64_t random_draw;       // seed of the draws, so that totals can be re-weighted
  uint64_t lost_calls;        // calls not recorded: no slot, no record, no disk space
  uint32_t complete;          // 1 once everything above is written; 0: ignore the file
  uint32_t attached;          // 1 while measuring
  uint32_t timed_call_ps;     // what measuring costs the host for a timed call, picoseconds
  uint32_t untimed_call_ps;   // and for one that is only counted
  uint32_t bias_ps;           // subtracted from every wall time; 0 = not told
  uint32_t bias_spread_ps;    // distance of its quartiles when it was measured: how sure that is
  uint32_t time_per_65536;    // share of such runs that record wall time; 0 = not told
  uint32_t reserved32;
  uint64_t request_id;  // FIELDCOST_ASKED of whoever asked for this run; 0: nobody, or not told
  uint64_t reserved[5];
};
static_assert(sizeof(RunHeader) == 192);

constexpr uint64_t RoundUpToPage(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
constexpr uint64_t CountersOffset(uint32_t pick_capacity) {
  return RoundUpToPage(sizeof(RunHeader) + pick_capacity * sizeof(Pick));
}
// Distance between two threads' counters: whole cache lines.
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
