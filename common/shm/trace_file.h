#pragma once

// The files exchanged between `fieldcost trace` and the library in traced programs: a plan, and per
// program an *arena* with the tree of its calls. Both are in an in-memory directory that the
// command creates for itself. Little endian, fixed layout, x86-64 only. No C++ runtime. Readers do
// not trust an arena.
//
//   plan:  TracePlanHeader | globs, zero-terminated
//   arena: TraceHeader | TraceModule[kTraceModules] | TraceThread[kThreadSlots]
//          | TraceChunk[kTraceMaxChunks] | TraceApi[kTraceApis] | chunks
//
// A chunk belongs to one thread and contains nodes of its tree, or edges of its branches. All
// chunks together form one array of nodes, in which the number of a node is its index. A parent's
// number is smaller than its children's. Every number of a node or edge has one writer and only
// grows.

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
inline constexpr uint32_t kTraceVersion = 1;

inline constexpr uint32_t kTraceModules = 512;
inline constexpr uint32_t kTraceApis = 16384;
inline constexpr uint64_t kTraceChunkBytes = 64 << 10;
inline constexpr uint32_t kTraceMaxChunks = 16384;  // an arena of 1 GiB
inline constexpr uint64_t kTraceUsualArenaBytes = uint64_t{256} << 20;
inline constexpr uint32_t kTraceMaxDepth = 1023;  // frames in a path, without [cut]
inline constexpr uint32_t kTraceNoNode = ~uint32_t{0};
inline constexpr uint32_t kTraceNoModule = ~uint32_t{0};
inline constexpr uint32_t kMaxTracePlanBytes = 1 << 20;

// The traced events, as bits. Bit 0 is reserved for the library.
enum TraceEvents : uint32_t {
  kTraceFunctions = 2,  // in code built with -finstrument-functions
  kTraceBranches = 4,   // in code built with -fsanitize-coverage=trace-pc[-guard]
  kTraceCalls = 8,      // of APIs that match the globs
};

// A node's counts in addition to calls and time: indices, and bits of `metrics`. Numbers are never
// reused.
enum TraceMetric : uint32_t {
  kTraceAllocatedBytes = 0,  // as requested
  kTraceAllocatedBlocks = 1,
  kTraceFreedBytes = 2,  // as the allocator provided them, which may be more than requested
  kTraceFreedBlocks = 3,
  kTraceDiskRead = 4,  // bytes; like the run file's metrics of these names
  kTraceDiskWritten = 5,
  kTraceNetReceived = 6,
  kTraceNetSent = 7,
  kTracePageFaults = 8,  // in user mode
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
  uint32_t glob_bytes;  // "library!symbol" globs separated by commas, with the terminating zero
  uint32_t data_slots;  // 1: also calls through GLOB_DAT slots
};
static_assert(sizeof(TracePlanHeader) == 48);

// A loaded module. A later module may have the addresses of an earlier one.
struct TraceModule {
  char path[512];
  char soname[128];  // empty if it has none
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t complete;  // 1, written last
  uint64_t base;      // to be added to its virtual addresses
  uint64_t begin;     // its mapped range
  uint64_t end;
  uint64_t code_offset;  // of its code: file offset minus virtual address, modulo 2^64
  uint64_t reserved[39];
};
static_assert(sizeof(TraceModule) == 1024);

struct TraceThread {
  uint32_t threads;  // that successively had this slot; 0: never used
  uint32_t tid;      // of the last one
  uint32_t root;     // number of its first node
  uint32_t current;  // the node that is currently charged with time; written after last_ticks
  uint64_t first_ticks;
  uint64_t last_ticks;     // of the last event, up to which time is charged; written before that
  uint64_t between_ticks;  // during which no thread had the slot
  uint32_t metrics;        // bits of kTraceThreadMetrics that were measured on all of them
  uint32_t busy;           // nonzero while an event is being recorded: the rest may be inconsistent
  uint64_t lost_events;    // in signal handlers that interrupted us
  uint64_t folded_calls;   // without a node of their own: counted in their caller's
  uint64_t left_frames;    // left by longjmp or an exception
  uint64_t unmatched_exits;  // of functions that were not entered
  uint64_t clock_steps;      // how often the clock went backwards
  uint64_t reserved[5];
};
static_assert(sizeof(TraceThread) == 128);

enum TraceChunkKind : uint16_t { kTraceFree = 0, kTraceNodes = 1, kTraceEdges = 2 };

struct TraceChunk {
  uint16_t kind;  // TraceChunkKind; written last
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
inline constexpr uint64_t kTraceApiPlace = uint64_t{1} << 63;      // with the API's number
inline constexpr uint64_t kTraceSpecialPlace = uint64_t{1} << 62;  // with one of:
inline constexpr uint64_t kTraceRoot = kTraceSpecialPlace | 0;     // outside of everything traced
inline constexpr uint64_t kTraceOther = kTraceSpecialPlace | 1;    // paths that did not fit
inline constexpr uint64_t kTraceCut = kTraceSpecialPlace | 2;      // beyond kTraceMaxDepth

// Self values: the costs while this node was the innermost.
struct TraceNode {
  uint64_t place;
  uint32_t parent;            // number; kTraceNoNode for a root
  uint16_t depth : 11;        // 0 for a root
  uint16_t not_measured : 5;  // NotMeasured: why its own bytes are unknown
  uint16_t frame_words;       // writer's: from its hook's frame to its return address, plus 1
  uint64_t calls;
  uint64_t ticks;
  uint64_t last_child_place;  // writer's: the child that was called last
  uint32_t last_child;
  uint32_t follower;               // writer's: the sibling called after it last time; 0 = unknown
  uint64_t values[kTraceMetrics];  // by TraceMetric
};
static_assert(sizeof(TraceNode) == 128);
inline constexpr uint32_t kTraceNodesOfChunk = kTraceChunkBytes / sizeof(TraceNode);

// A branch: how often block `to` was entered after block `from` on its thread, and the cost until
// the next block. A block is the return address of its callback.
struct TraceEdge {
  uint64_t from;  // 0: `to` was the thread's first
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
  uint32_t complete;  // 1 once everything above `metrics` has been written
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t attached;  // 0: it entered a sandbox, or loaded a library that rules out tracing
  uint64_t arena_bytes;
  uint64_t start_unix_ns;
  uint64_t start_monotonic_ns;
  uint64_t start_ticks;
  uint64_t tsc_to_ns_multiplier;
  char program[512];      // path
  uint32_t metrics;       // bits of TraceMetric: those measured at all
  uint32_t module_count;  // may exceed kTraceModules: the rest is unknown
  uint32_t api_count;     // APIs that slots point to
  uint32_t left_out;      // APIs beyond kTraceApis, or with too long names
  uint32_t chunk_count;   // claimed
  uint32_t not_measured;  // NotMeasured, for all nodes: a library has mapped a file; at any time
  uint64_t lost_events;   // of threads without a slot
  uint64_t lost_calls;    // of APIs, for lack of a free record
  uint64_t moved_calls;   // of APIs, that returned on another thread
  uint64_t lost_edges;    // branches that did not fit
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
