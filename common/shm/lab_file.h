#pragma once

// The files exchanged between the lab (`fieldcost measure`) and the library in a scenario's
// programs: a plan, and per program a file with its calls. Both are in an in-memory directory that
// the lab creates for itself; the agent never sees it. Little endian, fixed layout, x86-64 only. No
// C++ runtime. The lab does not trust the programs' files.
//
//   plan:     LabPlanHeader | LabPlanEntry[entry_count], ascending by hash | globs, zero-terminated
//   lab file: LabHeader | LabApi[kLabApis] | pair rows | LabNode[slot][kLabNodes] | blocks |
//             LabIoBlock[kLabIoBlocks] (of a map)
//
// An API has one number in a program's files: that of the stub through which it is called. Entries
// of APIs that were never called are all zeros. In the pair rows, bit b of row a is set if b was
// entered on a thread on which a had not returned yet.

#include <stdint.h>

#include "common/shm/run_file.h"

namespace fieldcost::shm {

// The absolute path of the directory; set for the scenario's programs.
inline constexpr char kLabDirectoryVariable[] = "FIELDCOST_LAB_DIR";
inline constexpr char kLabPlanName[] = "plan";
inline constexpr char kLabFileSuffix[] = ".lab";
inline constexpr char kLabPlanMagic[8] = {'f', 'c', 'l', 'a', 'b', 'p', 'l', 'n'};
inline constexpr char kLabMagic[8] = {'f', 'c', 'l', 'a', 'b', 'r', 'u', 'n'};
inline constexpr uint32_t kLabVersion = 1;

inline constexpr uint32_t kLabApis = 16384;
inline constexpr uint32_t kLabNodes = 16384;   // per thread
inline constexpr uint32_t kLabBlocks = 65536;  // per program
inline constexpr uint32_t kLabIoBlocks = 16384;
inline constexpr uint32_t kLabLeftOutNames = 8;
inline constexpr uint32_t kLabArguments = 6;  // integer registers
inline constexpr uint64_t kLabAllArguments = 1024;
inline constexpr uint32_t kNoArgument = 0xff;
inline constexpr uint32_t kMaxLabPlanBytes = 1 << 20;

enum LabMode : uint32_t {
  kLabMap = 1,   // which APIs are called, which are on one stack, and what they allocate
  kLabTime = 2,  // how long the calls of one group take
};

enum LabRole : uint32_t {
  kLabKnown = 0,  // of another group: not measured
  kLabTimed = 1,
  kLabNew = 2,  // not in the plan: if it is called, the plan does not cover it
  // Not measured, but its calls move bytes that cannot be counted. In no plan; found by programs.
  kLabHides = 3,
};

struct LabPlanHeader {
  char magic[8];
  uint32_t version;
  uint32_t mode;  // LabMode
  uint64_t size_bytes;
  uint64_t tsc_to_ns_multiplier;
  uint32_t entry_count;  // at most kLabApis
  uint32_t glob_bytes;   // "library!symbol" globs separated by commas, with the terminating zero
  uint32_t data_slots;   // 1: also calls through GLOB_DAT slots
  uint32_t reserved;
};
static_assert(sizeof(LabPlanHeader) == 48);

struct LabPlanEntry {
  uint64_t api_hash;  // ApiHash()
  uint32_t role;      // LabRole
  uint32_t argument;  // 0..5: costs are broken down by this argument's size; kNoArgument
};
static_assert(sizeof(LabPlanEntry) == 16);

enum LabApiFlags : uint32_t {
  kLabDescribed = 1,  // called
  kLabSighted = 2,    // called, but not in the plan
  kLabAllocator = 4,  // of the malloc family: its allocations are attributed to its caller
};

struct LabApi {
  char module[64];  // soname, or else the file's name
  char symbol[256];
  char version[64];  // empty if unversioned
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t flags;  // LabApiFlags; written last
  char path[512];
  uint64_t first_call_ns;     // of the process's first call, plus 1; 0 = none has returned
  uint64_t first_call_bytes;  // likewise
  uint32_t not_measured;      // NotMeasured: why its calls' bytes are unknown; added at any time
  uint32_t reserved[17];
};
static_assert(sizeof(LabApi) == 1024);

// A node of a thread's tree of APIs that called each other. Node 0 is the root.
struct LabNode {
  uint32_t parent;
  uint32_t api;
  uint64_t calls;
  uint64_t bytes;  // allocated while it was the innermost
  uint64_t reserved;
};
static_assert(sizeof(LabNode) == 32);

// Sums of Log2Times256() of costs (log2_fixed.h). Unlike cells they are not staged: if the program
// is killed, they may lack the last value of the cell.
struct LabLogSums {
  uint64_t count;
  uint64_t sum;
  uint64_t sum_squares;
};

// One thread's calls of one API. `calls` is their exact number: the values of its cell, nested and
// abandoned calls, and those that have not returned.
struct LabBlock {
  uint32_t api;
  uint32_t slot;
  uint64_t calls;
  uint64_t nested;     // not recorded: inner calls of a recursion, or within another measured call
  uint64_t abandoned;  // left by longjmp or an exception
};

// Bytes that calls have left allocated, as the allocator provides them, minus
// those that they have freed. Calls are outermost ones that have returned.
inline constexpr uint32_t kLabLiveMarks = 40;
struct LabLive {
  uint64_t calls;
  int64_t bytes;
  int64_t bytes_at[kLabLiveMarks];  // when 2^i calls had returned; the rest 0
};

struct LabMapBlock {
  LabBlock head;
  uint64_t without_bytes;  // calls that allocated nothing (most calls): not in any cell
  uint64_t io;             // 1 + the number of its LabIoBlock; 0: no call has moved any bytes
  Cell inclusive;          // bytes per call, for the other calls
  Cell exclusive;
  Cell sizes;  // of each allocation
  // Calls by the size of each integer argument: the first kLabAllArguments calls, then one call in
  // 16, evenly spread.
  uint64_t arguments[kLabArguments][kBucketSlots];
  LabLive live;
};

// Bytes per call from and to files and sockets, for calls that moved any: metrics kDiskRead,
// kDiskWritten, kNetReceived, kNetSent. The block's other calls that returned (all: without_bytes +
// those in `inclusive`) moved none.
inline constexpr uint32_t kLabIoMetrics = 4;
struct LabIoBlock {
  Cell moved[kLabIoMetrics];
};

struct LabTimeBlock {
  LabBlock head;
  Cell time;    // ns
  Cell cycles;  // reference cycles of the same calls: time stamp counter ticks
  LabLogSums all;
  LabLogSums by_argument[kBucketSlots];
};

struct LabHeader {
  char magic[8];
  uint32_t version;
  uint32_t mode;
  uint64_t size_bytes;
  uint32_t complete;  // 1 once everything above and the program's name have been written
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t attached;  // 0: it entered a sandbox, or loaded a library that rules out measuring
  uint64_t start_unix_ns;
  uint64_t tsc_to_ns_multiplier;
  uint32_t bias_ps;  // subtracted from every time
  uint32_t bias_spread_ps;
  uint64_t lost_calls;       // no slot or memory, or in a signal handler that interrupted us
  uint64_t lost_records;     // calls without a free record
  uint64_t lost_nodes;       // calls attributed to their caller's node, since no node was free
  uint64_t moved_calls;      // that returned on another thread
  uint32_t candidate_count;  // APIs that slots point to
  uint32_t left_out;         // beyond kLabApis, or whose names are too long
  uint32_t block_count;      // may exceed kLabBlocks: the rest was lost
  uint32_t io_block_count;   // may exceed kLabIoBlocks, likewise
  uint32_t node_counts[kThreadSlots];
  char program[256];
  // The first ones that were left out: "library!symbol", truncated if longer; the rest empty.
  char left_out_names[kLabLeftOutNames][320];
  uint32_t knows_block_sizes;  // 0: LabLive is not measured
  uint8_t reserved[140];
};
static_assert(sizeof(LabHeader) == 4096);

inline constexpr uint64_t kLabRowBytes = kLabApis / 8;
constexpr uint64_t LabApisOffset() { return sizeof(LabHeader); }
constexpr uint64_t LabPairsOffset() { return LabApisOffset() + kLabApis * sizeof(LabApi); }
constexpr uint64_t LabNodesOffset() { return LabPairsOffset() + kLabApis * kLabRowBytes; }
constexpr uint64_t LabBlocksOffset() {
  return LabNodesOffset() + uint64_t{kThreadSlots} * kLabNodes * sizeof(LabNode);
}
constexpr uint64_t LabBlockBytes(uint32_t mode) {
  return mode == kLabMap ? sizeof(LabMapBlock) : sizeof(LabTimeBlock);
}
constexpr uint64_t LabIoOffset() {
  return RoundUpToPage(LabBlocksOffset() + kLabBlocks * LabBlockBytes(kLabMap));
}
constexpr uint64_t LabFileBytes(uint32_t mode) {
  return mode == kLabMap ? RoundUpToPage(LabIoOffset() + kLabIoBlocks * sizeof(LabIoBlock))
                         : RoundUpToPage(LabBlocksOffset() + kLabBlocks * LabBlockBytes(mode));
}

}  // namespace fieldcost::shm
