#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/runs/run_file_reader.h"
#include "common/base/result.h"
#include "common/shm/trace_file.h"

namespace fieldcost::events {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct ArenaModule {
  std::string path;
  std::string soname;    // empty if it has none
  std::string build_id;  // bytes; empty if it has none
  std::uint64_t base = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t code_offset = 0;  // file offset minus virtual address, modulo 2^64

  // Converts an address in the running program to the one in symbol tables, and to a file offset.
  std::uint64_t VirtualAddressOf(std::uint64_t address) const { return address - base; }
  std::uint64_t FileOffsetOf(std::uint64_t address) const { return address - base + code_offset; }
};

struct ArenaApi {
  std::string symbol;
  std::string version;           // empty if unversioned
  std::uint32_t module = kNone;  // index
};

enum class PlaceKind : std::uint8_t {
  kRoot,      // outside of everything traced
  kFunction,  // at `address`
  kApi,       // with index `api`
  kOther,     // paths that did not fit
  kCut,       // beyond the maximum depth
};

struct ArenaNode {
  std::uint32_t parent = kNone;  // index of a preceding node; kNone: first of a thread
  PlaceKind kind = PlaceKind::kRoot;
  std::uint32_t module = kNone;  // index, for a function; kNone: unknown code
  std::uint32_t api = kNone;     // index
  std::uint16_t slot = 0;        // of the thread
  std::uint64_t address = 0;
  std::uint64_t calls = 0;
  std::uint32_t not_measured = 0;  // shm::NotMeasured: why its own bytes are unknown
  std::uint64_t ticks = 0;         // self, as all values here
  std::array<std::uint64_t, shm::kTraceMetrics> values{};  // by shm::TraceMetric
};

// A branch: how often `to` was entered after `from`, and the cost until the next block.
struct ArenaEdge {
  std::uint64_t from = 0;  // addresses; 0 if `to` was the thread's first
  std::uint64_t to = 0;
  std::uint32_t from_module = kNone;  // indices
  std::uint32_t to_module = kNone;
  std::uint16_t slot = 0;  // of the thread
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t faults = 0;
};

// The threads that successively had one slot.
struct ArenaThread {
  std::uint16_t slot = 0;
  std::uint32_t threads_before = 0;  // before nodes and edges were read
  std::uint32_t threads = 0;         // after they were read
  std::uint32_t tid = 0;             // of the last one
  std::uint32_t root = kNone;        // index of its first node
  std::uint32_t current = kNone;     // index of the innermost node at the end
  std::uint64_t ticks = 0;           // from the first event to the last; the sum over its nodes
  std::uint64_t last_ticks = 0;      // time stamp of the last event
  // How long `current` has been the innermost node, at least, in a running program; 0 = unknown.
  std::uint64_t open_ticks = 0;
};

// Counts of events that were not recorded correctly.
struct ArenaLosses {
  std::uint64_t events = 0;           // of threads without a slot, or in signal handlers
  std::uint64_t calls = 0;            // of APIs, for lack of a free record
  std::uint64_t moved_calls = 0;      // of APIs, that returned on another thread
  std::uint64_t edges = 0;            // branches that did not fit
  std::uint64_t folded_calls = 0;     // without space of their own: counted in the caller's node
  std::uint64_t left_frames = 0;      // left by longjmp or an exception; informative, not a loss
  std::uint64_t unmatched_exits = 0;  // of functions that were not entered
  std::uint64_t clock_steps = 0;      // how often the clock went backwards
  std::uint32_t left_out = 0;         // APIs
  std::uint32_t modules = 0;          // beyond the limit
};

// The data that one program left.
struct Arena {
  std::string program;  // path
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t events = 0;  // shm::TraceEvents
  bool attached = false;     // until its end
  bool still_runs = false;   // TakeArenas(): later events are missing
  std::uint64_t start_unix_ns = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t tsc_to_ns_multiplier = 0;
  std::uint32_t not_measured = 0;  // shm::NotMeasured, for all nodes
  std::uint32_t metrics = 0;       // bits of shm::TraceMetric that were measured, on all threads
  std::vector<ArenaModule> modules;
  std::vector<ArenaApi> apis;
  std::vector<ArenaNode> nodes;  // of all threads; parents before children
  std::vector<ArenaEdge> edges;  // of all threads; a pair of blocks may occur more than once
  std::vector<ArenaThread> threads;
  ArenaLosses losses;

  std::uint64_t Nanoseconds(std::uint64_t ticks) const;
};

// Reads a program's untrusted arena. If the program is still running, the result is a snapshot: no
// node lacks its parent, and a later read returns at least as much. Sums over all nodes, and over
// all edges, are below 2^60; in ns, below 2^63. kUnavailable: its writer is still creating it.
// kCorrupt, kUnsupported.
Result<Arena> ReadArena(const runs::RunBytes& untrusted_bytes);

}  // namespace fieldcost::events
