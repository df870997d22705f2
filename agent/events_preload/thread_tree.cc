#include "agent/events_preload/thread_tree.h"

#include <sys/mman.h>

#include "agent/events_preload/arena.h"
#include "agent/events_preload/event_targets.h"

namespace fieldcost::events_preload {
namespace {

constexpr uint32_t kFirstEntries = 4096;

// Maps a populated table, so that our page faults are not attributed to the program. Children of
// fork() do not inherit it, so that the program's first store after a fork causes no fault.
void* MapTable(uint64_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, bytes, MADV_DONTFORK);
  return mapped;
}

// Doubles the number of entries, at least to kFirstEntries; `move` puts the old entries into the
// new table. Returns false, with nothing changed, if there is no memory.
template <typename Entry, typename Move>
bool Grow(Table* table, Move move) {
  const uint64_t entries =
      table->entries == nullptr ? kFirstEntries : 2 * (uint64_t{table->mask} + 1);
  const uint64_t bytes = entries * sizeof(Entry);
  void* const made = entries > uint64_t{1} << 31 ? nullptr : MapTable(bytes);
  if (made == nullptr) return false;
  const Table old = *table;
  *table = {made, bytes, static_cast<uint32_t>(entries - 1), old.used};
  if (old.entries == nullptr) return true;
  for (uint64_t i = 0; i <= old.mask; ++i) move(static_cast<const Entry*>(old.entries)[i]);
  munmap(old.entries, old.bytes);
  return true;
}

bool IsFull(const Table& table) {
  return table.entries == nullptr || uint64_t{table.used} * 2 > table.mask;
}

uint32_t HashOfChild(uint32_t parent, uint64_t place) {
  return static_cast<uint32_t>((place + parent * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU >> 32);
}

// Returns the entry that holds the child's number plus 1; if there is no such child, the empty
// entry (0) for it.
uint32_t* ChildSlot(const Table& table, uint32_t parent, uint64_t place) {
  auto* const entries = static_cast<uint32_t*>(table.entries);
  uint32_t at = HashOfChild(parent, place) & table.mask;
  for (; entries[at] != 0; at = (at + 1) & table.mask) {
    const shm::TraceNode& node = process.nodes[entries[at] - 1];
    if (node.place == place && node.parent == parent) break;
  }
  return &entries[at];
}

bool MakeRoomForChild(ThreadState* thread) {
  Table* const table = &thread->children;
  return !IsFull(*table) || Grow<uint32_t>(table, [&](uint32_t number) {
    if (number == 0) return;
    const shm::TraceNode& node = process.nodes[number - 1];
    *ChildSlot(*table, node.parent, node.place) = number;
  });
}

// Returns an unused number in the thread's open chunk or in a new one; kNoChunk if there is no
// room.
uint32_t TakeNumber(ThreadState* thread, OpenChunk* open, shm::TraceChunkKind kind, uint32_t each,
                    bool reserved) {
  if (open->next == open->end) {
    const uint32_t index = ClaimChunk(kind, thread->slot, reserved);
    if (index == kNoChunk) return kNoChunk;
    open->chunk = process.InFile<shm::TraceChunk>(shm::TraceChunksOffset(), index);
    open->next = index * each;
    open->end = open->next + each;
  }
  return open->next++;
}

// Publishes that the last number taken is in use.
void Publish(OpenChunk* open) {
  __atomic_store_n(&open->chunk->used, open->chunk->used + 1, __ATOMIC_RELEASE);
}

// Describes a place. Called before its node is published.
void Name(uint64_t place) {
  if ((place & shm::kTraceApiPlace) != 0) {
    Describe(static_cast<uint32_t>(place));
  } else if ((place & shm::kTraceSpecialPlace) == 0) {
    KnowModule(place);
  }
}

shm::TraceNode* MakeNode(ThreadState* thread, uint32_t parent, uint32_t depth, uint64_t place) {
  const bool reserved = (place & shm::kTraceSpecialPlace) != 0;
  const uint32_t number =
      TakeNumber(thread, &thread->node_chunk, shm::kTraceNodes, shm::kTraceNodesOfChunk, reserved);
  if (number == kNoChunk) return nullptr;
  shm::TraceNode* const node = process.nodes + number;
  node->place = place;
  node->parent = parent;
  node->depth = static_cast<uint16_t>(depth) & 0x7ff;
  Name(place);
  Publish(&thread->node_chunk);
  return node;
}

// Returns the number of the child for exactly this place, creating it if it is new; kTraceNoNode if
// there is no room.
uint32_t Child(ThreadState* thread, const shm::TraceNode* node, uint64_t place) {
  const uint32_t parent = NumberOf(node);
  if (!MakeRoomForChild(thread)) return shm::kTraceNoNode;
  uint32_t* const slot = ChildSlot(thread->children, parent, place);
  if (*slot == 0) {
    const shm::TraceNode* const made = MakeNode(thread, parent, node->depth + 1U, place);
    if (made == nullptr) return shm::kTraceNoNode;
    *slot = NumberOf(made) + 1;
    ++thread->children.used;
  }
  return *slot - 1;
}

void SetLast(shm::TraceNode* node, uint32_t child, uint64_t place) {
  if (node->last_child_place != 0) process.nodes[node->last_child].follower = child;
  node->last_child = child;
  node->last_child_place = place;
}

// The rest of FindOrMakeChild(), for a child that is not at the place given by its hash.
__attribute__((noinline)) shm::TraceNode* MakeChild(ThreadState* thread, shm::TraceNode* node,
                                                    uint64_t place) {
  // Everything below a folded node is folded, too.
  if (node->place == shm::kTraceOther || node->place == shm::kTraceCut) {
    ++node->calls;
    return node;
  }
  const bool is_too_deep = node->depth >= shm::kTraceMaxDepth;
  uint32_t child = Child(thread, node, is_too_deep ? shm::kTraceCut : place);
  if (child == shm::kTraceNoNode) child = Child(thread, node, shm::kTraceOther);
  if (child == shm::kTraceNoNode) {
    ++thread->shared->folded_calls;
    return node;
  }
  SetLast(node, child, place);
  return process.nodes + child;
}

EdgeEntry* EdgeSlot(const Table& table, uint64_t from, uint64_t to) {
  auto* const entries = static_cast<EdgeEntry*>(table.entries);
  uint32_t at = HashOfEdge(from, to) & table.mask;
  while (entries[at].edge != nullptr && (entries[at].from != from || entries[at].to != to)) {
    at = (at + 1) & table.mask;
  }
  return &entries[at];
}

}  // namespace

__attribute__((cold)) shm::TraceNode* MakeRoot(ThreadState* thread) {
  return MakeNode(thread, shm::kTraceNoNode, 0, shm::kTraceRoot);
}

// Most children always follow the same sibling; most others are at the place given by their hash.
__attribute__((noinline)) shm::TraceNode* FindOrMakeChild(ThreadState* thread, shm::TraceNode* node,
                                                          uint64_t place) {
  if (node->last_child_place == 0) return MakeChild(thread, node, place);
  const uint32_t parent = NumberOf(node);
  const auto is_it = [&](uint32_t number) {
    return process.nodes[number].place == place && process.nodes[number].parent == parent;
  };
  uint32_t number = process.nodes[node->last_child].follower;
  if (number == 0 || !is_it(number)) {
    const auto* const entries = static_cast<const uint32_t*>(thread->children.entries);
    const uint32_t entry = entries[HashOfChild(parent, place) & thread->children.mask];
    number = entry - 1;
    if (entry == 0 || !is_it(number)) return MakeChild(thread, node, place);
  }
  SetLast(node, number, place);
  return process.nodes + number;
}

__attribute__((noinline)) shm::TraceEdge* FindOrMakeEdge(ThreadState* thread, uint64_t from,
                                                         uint64_t to) {
  Table* const table = &thread->edges;
  const auto move = [&](const EdgeEntry& entry) {
    if (entry.edge != nullptr) *EdgeSlot(*table, entry.from, entry.to) = entry;
  };
  if (!IsFull(*table) || Grow<EdgeEntry>(table, move)) {
    EdgeEntry* const slot = EdgeSlot(*table, from, to);
    if (slot->edge != nullptr) return slot->edge;
    const uint32_t number =
        TakeNumber(thread, &thread->edge_chunk, shm::kTraceEdges, shm::kTraceEdgesOfChunk, false);
    if (number != kNoChunk) {
      const uint64_t chunk = number / shm::kTraceEdgesOfChunk;
      shm::TraceEdge* const edge =
          process.InFile<shm::TraceEdge>(shm::TraceArenaOffset() + chunk * shm::kTraceChunkBytes,
                                         number % shm::kTraceEdgesOfChunk);
      KnowModule(to);
      edge->from = from;
      edge->to = to;
      Publish(&thread->edge_chunk);
      *slot = {from, to, edge, 0};
      ++table->used;
      return edge;
    }
  }
  __atomic_fetch_add(&process.header->lost_edges, 1, __ATOMIC_RELAXED);
  return nullptr;
}

}  // namespace fieldcost::events_preload
