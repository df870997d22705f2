#pragma once

#include <stdint.h>

#include "agent/events_preload/event_process.h"

namespace fieldcost::events_preload {

// Creates this process's arena and maps it: sets process.header and the fields after it. Returns
// false, leaving nothing there, if any step fails.
bool CreateArena();

// A chunk of its own for the thread of that slot, with memory; its number, or kNoChunk. What only
// folds others away (`reserved`) may have the last chunks, too.
inline constexpr uint32_t kNoChunk = ~uint32_t{0};
uint32_t ClaimChunk(shm::TraceChunkKind kind, uint32_t slot, bool reserved);

// Writes down which module holds the address, unless it has been; its number, or kTraceNoModule.
// REQUIRES: code at the address is being executed, or is of a module that stays.
uint32_t KnowModule(uint64_t address);

// Records all loaded modules. REQUIRES: the constructor.
void KnowModulesAtStart();

}  // namespace fieldcost::events_preload
