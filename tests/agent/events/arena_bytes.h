#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/shm/trace_file.h"
#include "tests/support/sparse_bytes.h"

namespace fieldcost::testing {

// An arena in memory.
class ArenaBytes final : public SparseBytes {
 public:
  static constexpr std::uint64_t kArenaBytes = 4 * shm::kTraceChunkBytes;

  // Contains only the header of a program that did nothing.
  ArenaBytes() : SparseBytes(shm::TraceFileBytes(kArenaBytes)) {
    shm::TraceHeader header{};
    std::memcpy(header.magic, shm::kTraceMagic, sizeof header.magic);
    header.version = shm::kTraceVersion;
    header.size_bytes = size();
    header.complete = 1;
    header.pid = 4711;
    header.attached = 1;
    header.arena_bytes = kArenaBytes;
    header.tsc_to_ns_multiplier = std::uint64_t{1} << 31;  // two ticks per nanosecond
    Put(0, header);
  }
};

// Offsets of its parts.
constexpr std::uint64_t TraceModuleAt(std::uint64_t module) {
  return shm::TraceModulesOffset() + module * sizeof(shm::TraceModule);
}
constexpr std::uint64_t TraceThreadAt(std::uint64_t slot) {
  return shm::TraceThreadsOffset() + slot * sizeof(shm::TraceThread);
}
constexpr std::uint64_t TraceChunkAt(std::uint64_t chunk) {
  return shm::TraceChunksOffset() + chunk * sizeof(shm::TraceChunk);
}
constexpr std::uint64_t TraceApiAt(std::uint64_t api) {
  return shm::TraceApisOffset() + api * sizeof(shm::TraceApi);
}
constexpr std::uint64_t TraceNodeAt(std::uint64_t node) {
  return shm::TraceArenaOffset() + node * sizeof(shm::TraceNode);
}
constexpr std::uint64_t TraceEdgeAt(std::uint64_t chunk, std::uint64_t edge) {
  return shm::TraceArenaOffset() + chunk * shm::kTraceChunkBytes + edge * sizeof(shm::TraceEdge);
}

// A program with one thread in which main, at 0x1100 of a module at 0x400000, called an API twice;
// the API allocated 100 bytes and took 600 of 1,000 ticks. There is one branch.
inline ArenaBytes SmallArena() {
  ArenaBytes bytes;
  auto header = bytes.Get<shm::TraceHeader>(0);
  header.events = shm::kTraceFunctions | shm::kTraceBranches | shm::kTraceCalls;
  std::strcpy(header.program, "/usr/bin/gold");
  header.metrics = (1U << shm::kTraceMetrics) - 1;
  header.module_count = 2;
  header.api_count = 1;
  header.chunk_count = 2;
  bytes.Put(0, header);

  shm::TraceModule program{.complete = 1, .base = 0x400000, .begin = 0x400000, .end = 0x402000};
  std::strcpy(program.path, "/usr/bin/gold");
  program.build_id_bytes = 4;
  std::memcpy(program.build_id, "\x01\x23\x45\x67", 4);
  program.code_offset = 0;
  bytes.Put(TraceModuleAt(0), program);
  shm::TraceModule library{.complete = 1, .base = 0x700000, .begin = 0x700000, .end = 0x709000};
  std::strcpy(library.path, "/usr/lib/libgold.so.1.0");
  std::strcpy(library.soname, "libgold.so.1");
  bytes.Put(TraceModuleAt(1), library);

  shm::TraceThread thread{.threads = 1, .tid = 4711, .root = 0, .current = 1};
  thread.first_ticks = 5000;
  thread.last_ticks = 6500;
  thread.metrics = 1U << shm::kTracePageFaults;
  bytes.Put(TraceThreadAt(0), thread);
  bytes.Put(TraceChunkAt(0), shm::TraceChunk{.kind = shm::kTraceNodes, .slot = 0, .used = 3});
  bytes.Put(TraceChunkAt(1), shm::TraceChunk{.kind = shm::kTraceEdges, .slot = 0, .used = 1});
  shm::TraceApi api{};
  std::strcpy(api.symbol, "gold_make");
  std::strcpy(api.version, "GOLD_1");
  api.module = 1;
  api.complete = 1;
  bytes.Put(TraceApiAt(0), api);

  bytes.Put(TraceNodeAt(0),
            shm::TraceNode{.place = shm::kTraceRoot, .parent = shm::kTraceNoNode, .ticks = 500});
  bytes.Put(TraceNodeAt(1), shm::TraceNode{.place = 0x401100,
                                           .parent = 0,
                                           .depth = 1,
                                           .calls = 1,
                                           .ticks = 399,
                                           .values = {0, 0, 0, 0, 0, 0, 0, 0, 3, 2}});
  bytes.Put(TraceNodeAt(2), shm::TraceNode{.place = shm::kTraceApiPlace | 0,
                                           .parent = 1,
                                           .depth = 2,
                                           .calls = 2,
                                           .ticks = 601,
                                           .values = {100, 1}});
  bytes.Put(
      TraceEdgeAt(1, 0),
      shm::TraceEdge{
          .from = 0x401110, .to = 0x401120, .count = 7, .ticks = 70, .bytes = 100, .faults = 1});
  return bytes;
}

}  // namespace fieldcost::testing
