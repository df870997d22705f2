#pragma once

// The run file: where a measured program leaves its sums. One file a process image, mapped shared,
// so that it outlives any end of the process. Written by the preload library only; the daemon
// treats it as hostile. Little endian, fixed layout, x86-64 only. No C++ runtime.
//
//   RunHeader | Pick[pick_count] | (page boundary) | Cell[slot][pick][metric of the pick's set]
//
// A slot belongs to one thread at a time. A cell has one writer; the writer survives being killed
// at any instruction because each update goes through `staged` (see Cell).

#include <stdint.h>

#include "common/shm/log2_bucket.h"
#include "common/shm/policy_file.h"

namespace fieldcost::shm {

inline constexpr char kRunMagic[8] = {'f', 'c', 'r', 'u', 'n', 'f', 'i', 'l'};
inline constexpr uint32_t kRunVersion = 1;
inline constexpr uint32_t kThreadSlots = 256;
inline constexpr uint32_t kMaxMetricsPerPick = 8;
inline constexpr char kRunFileSuffix[] = ".run";

struct RunBucket {
  uint64_t count;
  uint64_t sum;  // of one run: 2^64 ns are 584 years
  uint64_t sumsq_low;
  uint64_t sumsq_high;
};

// One histogram. The writer of a new value first computes the new contents of its bucket, puts them
// into `staged`, sets `staged_slot` to slot + 1 (the commit), copies them into the bucket, and sets
// `staged_slot` to 0. A reader that finds staged_slot != 0 in a dead process's file copies `staged`
// to that bucket itself. A reader of a living one uses `sequence` (odd while writing) to read
// again.
struct Cell {
  uint32_t sequence;
  uint32_t staged_slot;
  uint64_t abandoned;  // calls that never returned here: longjmp, exception, thread exit
  uint64_t nested;     // calls not timed because their thread was already measuring
  uint64_t reserved;
  RunBucket staged;
  RunBucket buckets[kBucketSlots];
};
static_assert(sizeof(Cell) == 64 + 65 * 32);

struct Pick {
  char soname[64];
  char symbol[256];
  char symbol_version[64];  // empty if unversioned
  uint8_t build_id[32];
  uint32_t build_id_bytes;  // 0..32
  MetricSet metrics;        // cells exist for these, in ascending metric number
  uint32_t bias_ns;         // already subtracted from every wall time
  uint32_t reserved;
  char module_path[512];  // for the package database on this machine; never leaves it
};
static_assert(sizeof(Pick) == 64 + 256 + 64 + 32 + 16 + 512);

enum RunFlags : uint32_t {
  kRunForced = 1,  // picked by hand (`fieldcost run --pick`): stays on this machine
};

struct RunHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // sizeof(RunHeader)
  uint64_t size_bytes;    // of the whole file
  uint32_t flags;         // RunFlags
  uint32_t policy_serial;
  uint32_t pid;
  uint32_t pick_count;
  uint64_t process_start_ticks;  // field 22 of /proc/PID/stat, tells a reused pid apart
  uint64_t start_unix_ns;        // CLOCK_REALTIME at the start of the run
  uint64_t tsc_to_ns_multiplier;
  uint64_t start_tsc;
  uint32_t metrics_per_pick;  // the same for every pick of a run
  uint32_t thread_slots;      // kThreadSlots
  uint64_t cells_offset;      // multiple of 4096
  uint64_t candidate_count;   // APIs the random pick was drawn from
  uint64_t random_draw;       // the draw, so that totals can be re-weighted
  uint64_t lost_calls;        // calls not recorded: no slot, no record, no disk space
  uint32_t complete;          // 1 once everything above is written; 0: ignore the file
  uint32_t attached;          // 1 while measuring
  uint64_t reserved[10];
};
static_assert(sizeof(RunHeader) == 200);

constexpr uint64_t CellsOffset(uint32_t pick_count) {
  return (sizeof(RunHeader) + pick_count * sizeof(Pick) + 4095) / 4096 * 4096;
}
constexpr uint64_t CellOffset(uint32_t pick_count, uint32_t metrics_per_pick, uint32_t slot,
                              uint32_t pick, uint32_t metric_index) {
  return CellsOffset(pick_count) +
         ((uint64_t{slot} * pick_count + pick) * metrics_per_pick + metric_index) * sizeof(Cell);
}

}  // namespace fieldcost::shm
