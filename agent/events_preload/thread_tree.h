#pragma once

#include <stdint.h>

#include "agent/events_preload/event_thread_state.h"

namespace fieldcost::events_preload {

// A thread's tree in the arena, and its branches.

inline uint32_t NumberOf(const shm::TraceNode* node) {
  return static_cast<uint32_t>(node - process.nodes);
}

// Creates a thread's first node. Returns null if there is no memory.
shm::TraceNode* MakeRoot(ThreadState* thread);

// Returns the node's child for this place, creating it if it is new. Without room, returns the
// node's child [other], or the node itself if there is no room for that. [other] and [cut] are
// their own children, for any place; their calls are counted at once.
shm::TraceNode* FindOrMakeChild(ThreadState* thread, shm::TraceNode* node, uint64_t place);
inline shm::TraceNode* ChildOf(ThreadState* thread, shm::TraceNode* node, uint64_t place) {
  return __builtin_expect(node->last_child_place == place, 1)
             ? process.nodes + node->last_child
             : FindOrMakeChild(thread, node, place);
}

// Returns the edge between two blocks, creating it if needed; null (and counted) if there is no
// room.
shm::TraceEdge* FindOrMakeEdge(ThreadState* thread, uint64_t from, uint64_t to);
inline uint32_t HashOfEdge(uint64_t from, uint64_t to) {
  return static_cast<uint32_t>(((from * 0x9e3779b97f4a7c15U) ^ to) * 0xff51afd7ed558ccdU >> 32);
}
inline shm::TraceEdge* EdgeOf(ThreadState* thread, uint64_t from, uint64_t to) {
  const auto* const entries = static_cast<const EdgeEntry*>(thread->edges.entries);
  if (__builtin_expect(entries != nullptr, 1)) {
    const EdgeEntry& entry = entries[HashOfEdge(from, to) & thread->edges.mask];
    if (__builtin_expect(entry.to == to && entry.from == from, 1)) return entry.edge;
  }
  return FindOrMakeEdge(thread, from, to);
}

}  // namespace fieldcost::events_preload
