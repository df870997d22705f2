#pragma once

// The files that `fieldcost trace` and the library in traced programs exchange: a plan, and per
// program an *arena* with the tree of its calls. Both are in one directory in memory that the
// command creates for itself. Little endian, fixed layout, x86-64 only. No C++ runtime. Readers
// treat an arena as hostile.
//
//   plan:  TracePlanHeader | globs, zero-terminated
//   arena: TraceHeader | TraceModule[kTraceModules] | TraceThread[kThreadSlots]
//          | TraceChunk[kTraceMaxChunks] | TraceApi[kTraceApis] | chunks
//
// A chunk belongs to one thread and holds nodes of its tree, or edges of its branches. All chunks
// together are one array of nodes, in which the number of a node is its index. A parent's number is
// smaller than its children's. Every number of a node or edge has one writer and only grows.

#include <stddef.h>
#include <stdint.h>

#include "common/shm/run_file.h"

namespace fieldcost::shm {

// The absolute path of the directory; set for the traced programs.
inline constexpr char kTraceDirectoryVariable[] = "FIELDCOST_TRACE_DIR";
inline constexpr char kTracePlanName[] = "plan";
inline constexpr char kTraceFileSuffix[] = ".arena";
inline constexpr char kTracePlanMagic[8] = {'f', 'c', 't', 'r', 'c', 'p', 'l', 'n'};
inline constexpr char kTraceMagic[8] = {'f', 'c', 't', 'r', 'c', 'r', 'u', 'n'};
inline constexpr uint32_t kTraceVersion = 3;

inline constexpr uint32_t kTraceModules = 512;
inline constexpr uint32_t kTraceApis = 16384;
inline constexpr uint64_t kTraceChunkBytes = 64 << 10;
inline constexpr uint32_t kTraceMaxChunks = 16384;  // an arena of 1 GiB
inline constexpr uint64_t kTraceUsualArenaBytes = uint64_t{256} << 20;
inline constexpr uint32_t kTraceMaxDepth = 1023;  // frames of a path, without [cut]
inline constexpr uint32_t kTraceNoNode = ~uint32_t{0};
inline constexpr uint32_t kTraceNoModule = ~uint32_t{0};
inline constexpr uint32_t kMaxTracePlanBytes = 1 << 20;

// The traced events, as bits. Bit 0 is left to the library.
enum TraceEvents : uint32_t {
  kTraceFunctions = 2,  // of code built with -finstrument-functions
  kTraceBranches = 4,   // of code built with -fsanitize-coverage=trace-pc[-guard]
  kTraceCalls = 8,      // of the APIs that the globs name
};

// A node's counts in addition to calls and time; indices, and bits of `metrics`. Numbers are never
// reused.
enum TraceMetric : uint32_t {
  kTraceAllocatedBytes = 0,  // as asked for
  kTraceAllocatedBlocks = 1,
  kTraceFreedBytes = 2,  // as the allocator gave them, which may be more than was asked for
  kTraceFreedBlocks = 3,
  kTraceDiskRead = 4,  // bytes; as the run file's metrics of this name
  kTraceDiskWritten = 5,
  kTraceNetReceived = 6,
  kTraceNetSent = 7,
  kTracePageFaults = 8,  // of user mode
  kTraceContextSwitches = 9,
};
inline constexpr uint32_t kTraceMetrics = 10;
// The metrics for which each thread states whether they were measured on it.
inline constexpr uint32_t kTraceThreadMetrics =
    1U << kTracePageFaults | 1U << kTraceContextSwitches;

struct TracePlanHeader {
  char magic[8];
  uint32_t version;
  uint32_t events;  // TraceEvents
  uint64_t size_bytes;
  uint64_t tsc_to_ns_multiplier;  // 32.32 fixed point
  uint64_t arena_bytes;           // of chunks; a multiple of kTraceChunkBytes
  uint32_t glob_bytes;  // of "library!symbol" globs with commas between them, and their end
  uint32_t data_slots;  // 1: calls through GLOB_DAT slots too
};
static_assert(sizeof(TracePlanHeader) == 48);

// A loaded module. A later module may have the addresses of an earlier one.
struct TraceModule {
  char path[512];
  char soname[128];  // empty if it has none
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t complete;  // 1, last
  uint64_t base;      // what to add to its virtual addresses
  uint64_t begin;     // its mapped range
  uint64_t end;
  uint64_t code_offset;  // of its code: place in the file less virtual address, modulo 2^64
  uint64_t reserved[39];
};
static_assert(sizeof(TraceModule) == 1024);

struct TraceThread {
  uint32_t threads;  // that had this slot, one after the other; 0: never used
  uint32_t tid;      // of the last one
  uint32_t root;     // number of its first node
  uint32_t current;  // of the node that time is charged to, now; written after last_ticks
  uint64_t first_ticks;
  uint64_t last_ticks;     // of the last event: what has been charged is the time until then. It
                           // is written before that is
  uint64_t between_ticks;  // that no thread had the slot
  uint32_t metrics;        // bits of kTraceThreadMetrics that were measured on all of them
  uint32_t busy;          // not 0 while an event is written down: the rest may not yet fit together
  uint64_t lost_events;   // in signal handlers that interrupted us
  uint64_t folded_calls;  // that found no place but in their caller's node
  uint64_t left_frames;   // by longjmp or an exception
  uint64_t unmatched_exits;  // of functions that were not entered
  uint64_t clock_steps;      // how often the clock went back
  uint64_t reserved[5];
};
static_assert(sizeof(TraceThread) == 128);

enum TraceChunkKind : uint16_t { kTraceFree = 0, kTraceNodes = 1, kTraceEdges = 2 };

struct TraceChunk {
  uint16_t kind;  // TraceChunkKind; last
  uint16_t slot;  // of the thread
  uint32_t used;  // nodes or edges in it
};
static_assert(sizeof(TraceChunk) == 8);

struct TraceApi {
  char symbol[256];
  char version[64];  // empty if unversioned
  uint32_t module;   // number of its module, or kTraceNoModule
  uint32_t complete;
  uint64_t reserved[7];
};
static_assert(sizeof(TraceApi) == 384);

// A node's place: a function's address, or one of these.
inline constexpr uint64_t kTraceApiPlace = uint64_t{1} << 63;      // and the API's number
inline constexpr uint64_t kTraceSpecialPlace = uint64_t{1} << 62;  // and one of:
inline constexpr uint64_t kTraceRoot = kTraceSpecialPlace | 0;     // outside of all that is traced
inline constexpr uint64_t kTraceOther = kTraceSpecialPlace | 1;    // paths that found no place
inline constexpr uint64_t kTraceCut = kTraceSpecialPlace | 2;      // beyond kTraceMaxDepth

// Self values: the costs while this node was the innermost.
struct TraceNode {
  uint64_t place;
  uint32_t parent;            // number; of a root kTraceNoNode
  uint16_t depth : 11;        // of a root 0
  uint16_t not_measured : 5;  // NotMeasured: why bytes of its own are not known
  uint16_t frame_words;       // the writer's: from its hook's frame to its return address, and 1
  uint64_t calls;
  uint64_t ticks;
  uint64_t last_child_place;  // the writer's: which child was called last
  uint32_t last_child;
  uint32_t follower;  // the writer's: the sibling that was called after it the last time; 0 = ?
  uint64_t values[kTraceMetrics];  // by TraceMetric
};
static_assert(sizeof(TraceNode) == 128);
inline constexpr uint32_t kTraceNodesOfChunk = kTraceChunkBytes / sizeof(TraceNode);

// A branch: how often block `to` was entered after block `from` on its thread, and what was spent
// until the next block. A block is the address at which its callback returns.
struct TraceEdge {
  uint64_t from;  // 0: the thread's first
  uint64_t to;
  uint64_t count;
  uint64_t ticks;
  uint64_t bytes;   // allocated
  uint64_t faults;  // user page faults
};
static_assert(sizeof(TraceEdge) == 48);
inline constexpr uint32_t kTraceEdgesOfChunk = kTraceChunkBytes / sizeof(TraceEdge);

struct TraceHeader {
  char magic[8];
  uint32_t version;
  uint32_t events;  // TraceEvents
  uint64_t size_bytes;
  uint32_t complete;  // 1 once everything above `metrics` is written
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t attached;  // 0: it entered a sandbox, or loaded what must be left alone
  uint64_t arena_bytes;
  uint64_t start_unix_ns;
  uint64_t start_monotonic_ns;
  uint64_t start_ticks;
  uint64_t tsc_to_ns_multiplier;
  char program[512];      // path
  uint32_t metrics;       // bits of TraceMetric: what is measured at all
  uint32_t module_count;  // may pass kTraceModules: the rest is not known
  uint32_t api_count;     // APIs that slots lead to
  uint32_t left_out;      // APIs beyond kTraceApis, or with names that are too long
  uint32_t chunk_count;   // claimed
  uint32_t not_measured;  // NotMeasured, of all nodes: a library has mapped a file; at any time
  uint64_t lost_events;   // of threads without a slot
  uint64_t lost_calls;    // of APIs, for which no record was left
  uint64_t moved_calls;   // of APIs, that came back on another thread
  uint64_t lost_edges;    // branches that found no place
  uint8_t reserved[3448];
};
static_assert(sizeof(TraceHeader) == 4096 && offsetof(TraceHeader, metrics) == 592);

constexpr uint64_t TraceModulesOffset() { return sizeof(TraceHeader); }
constexpr uint64_t TraceThreadsOffset() {
  return TraceModulesOffset() + kTraceModules * sizeof(TraceModule);
}
constexpr uint64_t TraceChunksOffset() {
  return TraceThreadsOffset() + kThreadSlots * sizeof(TraceThread);
}
constexpr uint64_t TraceApisOffset() {
  return TraceChunksOffset() + kTraceMaxChunks * sizeof(TraceChunk);
}
constexpr uint64_t TraceArenaOffset() { return TraceApisOffset() + kTraceApis * sizeof(TraceApi); }
static_assert(TraceArenaOffset() % 4096 == 0);
constexpr uint64_t TraceFileBytes(uint64_t arena_bytes) { return TraceArenaOffset() + arena_bytes; }
constexpr bool IsTraceArena(uint64_t arena_bytes) {
  return arena_bytes != 0 && arena_bytes % kTraceChunkBytes == 0 &&
         arena_bytes / kTraceChunkBytes <= kTraceMaxChunks;
}

}  // namespace fieldcost::shm
