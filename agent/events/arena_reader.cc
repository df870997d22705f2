// Reads arenas; common/shm/trace_file.h has their layout.
#include "agent/events/arena_reader.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "agent/runs/untrusted_fields.h"
#include "agent/runs/x86_64/runs_machine.h"

namespace fieldcost::events {
namespace {

constexpr std::uint64_t kMostSum = std::uint64_t{1} << 60;
constexpr std::uint64_t kMostMultiplier = std::uint64_t{1} << 35;  // 8 ns per tick

// The call that a thread was in when its slot was read.
struct OpenCall {
  std::uint64_t now_ticks = 0;
  std::uint64_t last_ticks = 0;
  std::uint32_t current = 0;
  std::uint32_t threads = 0;
  bool is_known = false;
};

// The file, and the mapping of its numbers to indices.
struct Reading {
  const runs::RunBytes* untrusted;
  shm::TraceHeader header;
  std::vector<std::uint32_t> module_of;  // by its number in the file
  std::vector<std::uint32_t> api_of;
  std::vector<shm::TraceChunk> untrusted_chunks;
  std::unordered_map<std::uint32_t, std::uint32_t> node_of;
  std::vector<OpenCall> open_calls;  // [slot]
  Arena arena;
};

template <typename Part>
Status ReadPart(const Reading& reading, std::uint64_t at, Part& part) {
  if (!reading.untrusted->Read(at, &part, sizeof part)) {
    return Fail(ErrorCode::kCorrupt, "the bytes at {} cannot be read", at);
  }
  return {};
}

Result<shm::TraceHeader> ReadHeader(const runs::RunBytes& untrusted_bytes) {
  shm::TraceHeader header;
  if (!untrusted_bytes.Read(0, &header, sizeof header)) {
    return Fail(ErrorCode::kCorrupt, "no header");
  }
  if (std::memcmp(header.magic, shm::kTraceMagic, sizeof header.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "not an arena");
  }
  if (header.version != shm::kTraceVersion) {
    return Fail(ErrorCode::kUnsupported, "arena has version {}; this program reads only {}",
                header.version, shm::kTraceVersion);
  }
  if (header.complete != 1) return Fail(ErrorCode::kUnavailable, "not finished");
  if (!shm::IsTraceArena(header.arena_bytes) ||
      header.size_bytes != shm::TraceFileBytes(header.arena_bytes) ||
      header.size_bytes != untrusted_bytes.size()) {
    return Fail(ErrorCode::kCorrupt, "{} bytes, but the header states {}", untrusted_bytes.size(),
                header.size_bytes);
  }
  if (header.tsc_to_ns_multiplier == 0 || header.tsc_to_ns_multiplier >= kMostMultiplier) {
    return Fail(ErrorCode::kCorrupt, "the rate of its clock is implausible");
  }
  return header;
}

Status ReadModules(Reading& reading) {
  reading.module_of.assign(shm::kTraceModules, kNone);
  const std::uint32_t count = reading.header.module_count;
  reading.arena.losses.modules = count > shm::kTraceModules ? count - shm::kTraceModules : 0;
  for (std::uint32_t i = 0; i < std::min(count, shm::kTraceModules); ++i) {
    shm::TraceModule untrusted;
    FIELDCOST_TRY(ReadPart(reading, shm::TraceModulesOffset() + i * sizeof untrusted, untrusted));
    if (untrusted.complete != 1) continue;
    const auto path = runs::TextOf(untrusted.path);
    const auto soname = runs::TextOf(untrusted.soname);
    if (!path || !soname || untrusted.build_id_bytes > sizeof untrusted.build_id ||
        untrusted.begin >= untrusted.end) {
      return Fail(ErrorCode::kCorrupt, "module {} is not valid", i);
    }
    reading.module_of[i] = static_cast<std::uint32_t>(reading.arena.modules.size());
    reading.arena.modules.push_back(
        {.path = std::string(*path),
         .soname = std::string(*soname),
         .build_id = {reinterpret_cast<const char*>(untrusted.build_id), untrusted.build_id_bytes},
         .base = untrusted.base,
         .begin = untrusted.begin,
         .end = untrusted.end,
         .code_offset = untrusted.code_offset});
  }
  return {};
}

// The latest module at that address.
std::uint32_t ModuleAt(const Arena& arena, std::uint64_t address) {
  for (std::size_t i = arena.modules.size(); i-- > 0;) {
    const ArenaModule& module = arena.modules[i];
    if (address >= module.begin && address < module.end) return static_cast<std::uint32_t>(i);
  }
  return kNone;
}

// Adds the API with that number; kNone if the program could not record it.
Result<std::uint32_t> IndexOfApi(std::uint64_t number, Reading& reading) {
  if (number >= shm::kTraceApis) return Fail(ErrorCode::kCorrupt, "API {}", number);
  std::uint32_t& index = reading.api_of[number];
  if (index != kNone) return index;
  shm::TraceApi untrusted;
  FIELDCOST_TRY(ReadPart(reading, shm::TraceApisOffset() + number * sizeof untrusted, untrusted));
  if (untrusted.complete != 1) return kNone;
  const auto symbol = runs::TextOf(untrusted.symbol);
  const auto version = runs::TextOf(untrusted.version);
  if (!symbol || symbol->empty() || !version) {
    return Fail(ErrorCode::kCorrupt, "API {} has no name", number);
  }
  const std::uint32_t module =
      untrusted.module < shm::kTraceModules ? reading.module_of[untrusted.module] : kNone;
  index = static_cast<std::uint32_t>(reading.arena.apis.size());
  reading.arena.apis.push_back(
      {.symbol = std::string(*symbol), .version = std::string(*version), .module = module});
  return index;
}

Status SetPlace(std::uint64_t place, ArenaNode& node, Reading& reading) {
  if ((place & shm::kTraceApiPlace) != 0) {
    node.kind = PlaceKind::kApi;
    FIELDCOST_ASSIGN(node.api, IndexOfApi(place & ~shm::kTraceApiPlace, reading));
    return {};
  }
  switch (place) {
    case shm::kTraceRoot:
      node.kind = PlaceKind::kRoot;
      return {};
    case shm::kTraceOther:
      node.kind = PlaceKind::kOther;
      return {};
    case shm::kTraceCut:
      node.kind = PlaceKind::kCut;
      return {};
    default:
      break;
  }
  if ((place & shm::kTraceSpecialPlace) != 0) return Fail(ErrorCode::kCorrupt, "place {}", place);
  node.kind = PlaceKind::kFunction;
  node.address = place;
  node.module = ModuleAt(reading.arena, place);
  return {};
}

Status AddNode(std::uint32_t number, const shm::TraceNode& untrusted, std::uint16_t slot,
               Reading& reading) {
  ArenaNode node{.slot = slot,
                 .calls = untrusted.calls,
                 .not_measured = untrusted.not_measured & shm::kAllNotMeasured,
                 .ticks = untrusted.ticks};
  std::copy(std::begin(untrusted.values), std::end(untrusted.values), node.values.begin());
  FIELDCOST_TRY(SetPlace(untrusted.place, node, reading));
  bool is_good = untrusted.parent == shm::kTraceNoNode;
  if (is_good) {
    is_good = node.kind == PlaceKind::kRoot;
  } else if (node.kind != PlaceKind::kRoot) {
    const auto parent = reading.node_of.find(untrusted.parent);
    is_good = parent != reading.node_of.end() && reading.arena.nodes[parent->second].slot == slot;
    if (is_good) node.parent = parent->second;
  }
  if (!is_good) return Fail(ErrorCode::kCorrupt, "node {} belongs to no tree", number);
  reading.node_of.emplace(number, static_cast<std::uint32_t>(reading.arena.nodes.size()));
  reading.arena.nodes.push_back(node);
  return {};
}

Status ReadNodes(std::uint32_t chunk, const shm::TraceChunk& untrusted_chunk, Reading& reading) {
  if (untrusted_chunk.used > shm::kTraceNodesOfChunk) {
    return Fail(ErrorCode::kCorrupt, "{} nodes in chunk {}", untrusted_chunk.used, chunk);
  }
  std::vector<shm::TraceNode> untrusted_nodes(untrusted_chunk.used);
  if (!reading.untrusted->Read(shm::TraceArenaOffset() + chunk * shm::kTraceChunkBytes,
                               untrusted_nodes.data(),
                               untrusted_nodes.size() * sizeof(shm::TraceNode))) {
    return Fail(ErrorCode::kCorrupt, "chunk {} cannot be read", chunk);
  }
  for (std::uint32_t i = 0; i < untrusted_nodes.size(); ++i) {
    FIELDCOST_TRY(AddNode(chunk * shm::kTraceNodesOfChunk + i, untrusted_nodes[i],
                          untrusted_chunk.slot, reading));
  }
  return {};
}

Status ReadEdges(std::uint32_t chunk, const shm::TraceChunk& untrusted_chunk, Reading& reading) {
  const std::uint32_t count = untrusted_chunk.used;
  if (count > shm::kTraceEdgesOfChunk) {
    return Fail(ErrorCode::kCorrupt, "{} edges in chunk {}", count, chunk);
  }
  std::vector<shm::TraceEdge> untrusted_edges(count);
  if (!reading.untrusted->Read(shm::TraceArenaOffset() + chunk * shm::kTraceChunkBytes,
                               untrusted_edges.data(), count * sizeof(shm::TraceEdge))) {
    return Fail(ErrorCode::kCorrupt, "chunk {} cannot be read", chunk);
  }
  for (const shm::TraceEdge& edge : untrusted_edges) {
    reading.arena.edges.push_back({.from = edge.from,
                                   .to = edge.to,
                                   .from_module = ModuleAt(reading.arena, edge.from),
                                   .to_module = ModuleAt(reading.arena, edge.to),
                                   .slot = untrusted_chunk.slot,
                                   .count = edge.count,
                                   .ticks = edge.ticks,
                                   .bytes = edge.bytes,
                                   .faults = edge.faults});
  }
  return {};
}

// Reads the table before everything else: a running program writes a node's parent, and the records
// that name it, before the node itself.
Status ReadChunkTable(Reading& reading) {
  const std::uint64_t all = reading.header.arena_bytes / shm::kTraceChunkBytes;
  if (reading.header.chunk_count > all) {
    return Fail(ErrorCode::kCorrupt, "{} chunks of {}", reading.header.chunk_count, all);
  }
  reading.untrusted_chunks.resize(reading.header.chunk_count);
  if (!reading.untrusted->Read(shm::TraceChunksOffset(), reading.untrusted_chunks.data(),
                               reading.untrusted_chunks.size() * sizeof(shm::TraceChunk))) {
    return Fail(ErrorCode::kCorrupt, "the chunks cannot be read");
  }
  return {};
}

Status ReadChunks(Reading& reading) {
  for (std::uint32_t i = 0; i < reading.untrusted_chunks.size(); ++i) {
    const shm::TraceChunk& chunk = reading.untrusted_chunks[i];
    if (chunk.kind == shm::kTraceFree) continue;
    if (chunk.slot >= shm::kThreadSlots || chunk.kind > shm::kTraceEdges) {
      return Fail(ErrorCode::kCorrupt, "chunk {} belongs to no thread", i);
    }
    FIELDCOST_TRY(chunk.kind == shm::kTraceNodes ? ReadNodes(i, chunk, reading)
                                                 : ReadEdges(i, chunk, reading));
  }
  return {};
}

void Add(std::uint64_t untrusted_count, std::uint64_t& sum) {
  sum += std::min(untrusted_count, kMostSum - std::min(sum, kMostSum));
}

// Reads the call that a thread is in, before its nodes. The order matters: a clock value read
// before an event began is not later than the event, and values read after `busy` was 0 include no
// event that had begun by then, unless last_ticks changes before the nodes have been read.
Status LookAtThread(std::uint32_t slot, Reading& reading) {
  const auto at = [&](std::size_t offset) {
    return shm::TraceThreadsOffset() + slot * sizeof(shm::TraceThread) + offset;
  };
  OpenCall open{.now_ticks = runs::ReadTimeStamp()};
  std::uint32_t busy = 0;
  FIELDCOST_TRY(ReadPart(reading, at(offsetof(shm::TraceThread, last_ticks)), open.last_ticks));
  FIELDCOST_TRY(ReadPart(reading, at(offsetof(shm::TraceThread, busy)), busy));
  FIELDCOST_TRY(ReadPart(reading, at(offsetof(shm::TraceThread, current)), open.current));
  FIELDCOST_TRY(ReadPart(reading, at(offsetof(shm::TraceThread, threads)), open.threads));
  open.is_known = busy == 0;
  reading.open_calls.push_back(open);
  return {};
}

// REQUIRES: the thread's nodes, and then last_ticks, have been read.
std::uint64_t OpenTicks(const OpenCall& open, const shm::TraceThread& untrusted_thread) {
  // A generous bound on the difference between the counters of two CPUs.
  constexpr std::uint64_t kApart = 4096;
  const bool is_same = open.is_known && open.last_ticks == untrusted_thread.last_ticks &&
                       open.current == untrusted_thread.current;
  if (!is_same || open.now_ticks < open.last_ticks + kApart) return 0;
  const std::uint64_t ticks = open.now_ticks - open.last_ticks - kApart;
  return ticks < kMostSum ? ticks : 0;
}

Status ReadThread(std::uint32_t slot, Reading& reading) {
  shm::TraceThread untrusted;
  FIELDCOST_TRY(ReadPart(reading, shm::TraceThreadsOffset() + slot * sizeof untrusted, untrusted));
  if (untrusted.threads == 0) return {};
  const auto root = reading.node_of.find(untrusted.root);
  // In a running program, the chunk may be new.
  if (root == reading.node_of.end()) return {};
  if (reading.arena.nodes[root->second].kind != PlaceKind::kRoot) {
    return Fail(ErrorCode::kCorrupt, "thread {} has no tree", slot);
  }
  const auto current = reading.node_of.find(untrusted.current);
  const std::uint64_t ticks =
      untrusted.last_ticks - untrusted.first_ticks - untrusted.between_ticks;
  if (ticks >= kMostSum) return Fail(ErrorCode::kCorrupt, "thread {} ended before it began", slot);
  reading.arena.threads.push_back(
      {.slot = static_cast<std::uint16_t>(slot),
       .threads_before = reading.open_calls[slot].threads,
       .threads = untrusted.threads,
       .tid = untrusted.tid,
       .root = root->second,
       .current = current == reading.node_of.end() ? root->second : current->second,
       .ticks = ticks,
       .last_ticks = untrusted.last_ticks,
       .open_ticks = OpenTicks(reading.open_calls[slot], untrusted)});
  reading.arena.metrics &= untrusted.metrics | ~shm::kTraceThreadMetrics;
  ArenaLosses& losses = reading.arena.losses;
  Add(untrusted.lost_events, losses.events);
  Add(untrusted.folded_calls, losses.folded_calls);
  Add(untrusted.left_frames, losses.left_frames);
  Add(untrusted.unmatched_exits, losses.unmatched_exits);
  Add(untrusted.clock_steps, losses.clock_steps);
  return {};
}

// Whether all of these can be summed without overflow.
template <typename Parts, typename ValuesOf>
bool AreSmall(const Parts& parts, ValuesOf values_of) {
  std::array<std::uint64_t, shm::kTraceMetrics + 2> sums{};
  for (const auto& part : parts) {
    std::size_t i = 0;
    for (const std::uint64_t value : values_of(part)) {
      if (value >= kMostSum - sums[i]) return false;
      sums[i++] += value;
    }
  }
  return true;
}

Status CheckSums(const Arena& arena) {
  const bool is_small =
      AreSmall(arena.nodes,
               [](const ArenaNode& node) {
                 return std::array{node.calls,     node.ticks,     node.values[0], node.values[1],
                                   node.values[2], node.values[3], node.values[4], node.values[5],
                                   node.values[6], node.values[7], node.values[8], node.values[9]};
               }) &&
      AreSmall(arena.edges, [](const ArenaEdge& edge) {
        return std::array{edge.count, edge.ticks, edge.bytes, edge.faults};
      });
  if (!is_small) return Fail(ErrorCode::kCorrupt, "more than a program can do");
  return {};
}

Arena HeadOf(const shm::TraceHeader& header, std::string_view program) {
  Arena arena{.program = std::string(program),
              .pid = header.pid,
              .parent_pid = header.parent_pid,
              .events = header.events,
              .attached = header.attached != 0,
              .start_unix_ns = header.start_unix_ns,
              .start_monotonic_ns = header.start_monotonic_ns,
              .start_ticks = header.start_ticks,
              .tsc_to_ns_multiplier = header.tsc_to_ns_multiplier,
              .not_measured = header.not_measured & shm::kAllNotMeasured,
              .metrics = header.metrics & ((1U << shm::kTraceMetrics) - 1)};
  Add(header.lost_events, arena.losses.events);
  Add(header.lost_calls, arena.losses.calls);
  Add(header.moved_calls, arena.losses.moved_calls);
  Add(header.lost_edges, arena.losses.edges);
  arena.losses.left_out = header.left_out;
  return arena;
}

}  // namespace

static_assert(shm::kTraceMetrics == 10, "CheckSums() names them");

std::uint64_t Arena::Nanoseconds(std::uint64_t ticks) const {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{ticks} * tsc_to_ns_multiplier) >> 32);
}

Result<Arena> ReadArena(const runs::RunBytes& untrusted_bytes) {
  FIELDCOST_ASSIGN(const shm::TraceHeader header, ReadHeader(untrusted_bytes));
  const auto program = runs::TextOf(header.program);
  if (!program) return Fail(ErrorCode::kCorrupt, "the program's name is not terminated");
  Reading reading{.untrusted = &untrusted_bytes,
                  .header = header,
                  .module_of = {},
                  .api_of = std::vector<std::uint32_t>(shm::kTraceApis, kNone),
                  .untrusted_chunks = {},
                  .node_of = {},
                  .open_calls = {},
                  .arena = HeadOf(header, *program)};
  FIELDCOST_TRY(ReadChunkTable(reading));
  FIELDCOST_TRY(ReadModules(reading));
  for (std::uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
    FIELDCOST_TRY(LookAtThread(slot, reading));
  }
  FIELDCOST_TRY(ReadChunks(reading));
  for (std::uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
    FIELDCOST_TRY(ReadThread(slot, reading));
  }
  FIELDCOST_TRY(CheckSums(reading.arena));
  return std::move(reading.arena);
}

}  // namespace fieldcost::events
