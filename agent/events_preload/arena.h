#pragma once

#include <stdint.h>

#include "agent/events_preload/event_process.h"

namespace fieldcost::events_preload {

// Creates this process's arena and maps it: sets process.header and the members after it. If any
// step fails, returns false, and no file remains.
bool CreateArena();

// Returns the number of a chunk with memory that belongs to the thread of that slot alone; kNoChunk
// if there is none. Only a `reserved` chunk, for nodes into which others are folded, may be one of
// the last ones.
inline constexpr uint32_t kNoChunk = ~uint32_t{0};
uint32_t ClaimChunk(shm::TraceChunkKind kind, uint32_t slot, bool reserved);

// Returns the number of the module that holds the address, and describes the module in the arena
// unless that was done before; kTraceNoModule if there is none. REQUIRES: code at the address is
// being executed, or its module stays loaded.
uint32_t KnowModule(uint64_t address);

// Records all loaded modules. REQUIRES: the constructor.
void KnowModulesAtStart();

}  // namespace fieldcost::events_preload
