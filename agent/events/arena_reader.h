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
  std::uint64_t code_offset = 0;  // place in the file less virtual address, modulo 2^64

  // An address in the running program, as symbol tables have it, and as a place in the file.
  std::uint64_t VirtualAddressOf(std::uint64_t address) const { return address - base; }
  std::uint64_t FileOffsetOf(std::uint64_t address) const { return address - base + code_offset; }
};

struct ArenaApi {
  std::string symbol;
  std::string version;           // empty if unversioned
  std::uint32_t module = kNone;  // index
};

enum class PlaceKind : std::uint8_t {
  kRoot,      // outside of all that is traced
  kFunction,  // at `address`
  kApi,       // number `api`
  kOther,     // paths that found no place
  kCut,       // deeper than what is kept
};

struct ArenaNode {
  std::uint32_t parent = kNone;  // index of another node, before it; kNone: first of a thread
  PlaceKind kind = PlaceKind::kRoot;
  std::uint32_t module = kNone;  // index, of a function; kNone: of unknown code
  std::uint32_t api = kNone;     // index
  std::uint16_t slot = 0;        // of its thread
  std::uint64_t address = 0;
  std::uint64_t calls = 0;
  std::uint32_t not_measured = 0;  // shm::NotMeasured: why bytes of its own are not known
  std::uint64_t ticks = 0;         // self, like all values here
  std::array<std::uint64_t, shm::kTraceMetrics> values{};  // by shm::TraceMetric
};

// A branch: how often `to` was entered after `from`, and what was spent until the next block.
struct ArenaEdge {
  std::uint64_t from = 0;  // addresses; from 0: the thread's first
  std::uint64_t to = 0;
  std::uint32_t from_module = kNone;  // indices
  std::uint32_t to_module = kNone;
  std::uint16_t slot = 0;  // of its thread
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t faults = 0;
};

// Threads that had a slot, one after the other.
struct ArenaThread {
  std::uint16_t slot = 0;
  std::uint32_t threads_before = 0;  // before nodes and edges were read
  std::uint32_t threads = 0;         // after that
  std::uint32_t tid = 0;             // of the last one
  std::uint32_t root = kNone;        // index of its first node
  std::uint32_t current = kNone;     // of the node that was the innermost at the end
  std::uint64_t ticks = 0;           // from the first event to the last: the sum over its nodes
  std::uint64_t last_ticks = 0;      // time stamp of the last event
  // How long at least `current` has been the innermost, while the program runs; 0: not known.
  std::uint64_t open_ticks = 0;
};

// Counts of events that were not recorded correctly.
struct ArenaLosses {
  std::uint64_t events = 0;           // of threads without a slot, in signal handlers
  std::uint64_t calls = 0;            // of APIs, for which no record was left
  std::uint64_t moved_calls = 0;      // of APIs, that came back on another thread
  std::uint64_t edges = 0;            // branches that found no place
  std::uint64_t folded_calls = 0;     // that found no place but in their caller's node
  std::uint64_t left_frames = 0;      // left by longjmp or an exception: no loss, but good to know
  std::uint64_t unmatched_exits = 0;  // of functions that were not entered
  std::uint64_t clock_steps = 0;      // how often the clock went back
  std::uint32_t left_out = 0;         // APIs
  std::uint32_t modules = 0;          // beyond what is kept
};

// What one program left.
struct Arena {
  std::string program;  // path
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t events = 0;  // shm::TraceEvents
  bool attached = false;     // to its end
  bool still_runs = false;   // TakeArenas(): later events are missing
  std::uint64_t start_unix_ns = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t tsc_to_ns_multiplier = 0;
  std::uint32_t not_measured = 0;  // shm::NotMeasured, of all nodes
  std::uint32_t metrics = 0;       // bits of shm::TraceMetric that were measured, on all threads
  std::vector<ArenaModule> modules;
  std::vector<ArenaApi> apis;
  std::vector<ArenaNode> nodes;  // of all threads; a parent before its children
  std::vector<ArenaEdge> edges;  // of all threads; a pair of blocks may be there more than once
  std::vector<ArenaThread> threads;
  ArenaLosses losses;

  std::uint64_t Nanoseconds(std::uint64_t ticks) const;
};

// Reads a program's untrusted arena. If the program still runs, the result is a snapshot: no node
// lacks its parent, and a later read returns at least as much. Sums over all nodes, and all edges,
// are below 2^60, in ns below 2^63. kUnavailable: its writer is still creating it. kCorrupt,
// kUnsupported.
Result<Arena> ReadArena(const agent::RunBytes& untrusted_bytes);

}  // namespace fieldcost::events
