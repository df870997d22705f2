#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/trace_file.h"

namespace fieldcost::events_preload {

struct ThreadState;
struct Record;

// An API that slots lead to, through the thunk with the same number. Its pointers refer to its
// provider's memory; null names: the provider was unloaded. Written under the patch lock or in the
// constructor unless stated otherwise.
struct Target {
  uint64_t address;  // the real function, or a wrapper around it
  const char* module;
  const char* symbol;
  const char* version;
  uint64_t hash;       // ApiHash(); 0: not used
  uint32_t described;  // 1 once it is in the arena; set by its first caller
  uint8_t reserved[20];
};

// The state of this process. Written by the constructor before any event is recorded; constant
// afterwards, except where noted.
struct Process {
  Target targets[intercept::kThunkCount];
  uint32_t target_count;  // grows, under the patch lock
  uint32_t pid;
  shm::TraceHeader* header;
  uint64_t file;          // its address
  shm::TraceNode* nodes;  // all chunks, as one array
  uint32_t usual_chunks;  // number available for any use; the rest is reserved for [other]
  uint32_t all_chunks;
  ThreadState* threads;  // kThreadSlots elements; not inherited by a child of fork()
  Record* records;       // kRecords per thread; a child of fork() has them as well
  uint64_t stack_top;    // highest address in use of the first thread's stack
  uint32_t never_reuse;  // frames that seem dead may return: greenlet is loaded; changes once
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

// kAttached and TraceEvents while this process is traced, else 0. First word of a page that fork()
// zeroes in the child (MADV_WIPEONFORK).
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;
inline constexpr uint32_t kAttached = 1;

inline bool Takes(uint32_t events) {
  return __builtin_expect((__atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED) & events) != 0, 1);
}

template <typename Part>
Part* InFile(uint64_t offset, uint64_t index) {
  return reinterpret_cast<Part*>(process.file + offset) + index;
}

// The thunk's assumptions about the layout.
static_assert(offsetof(Process, targets) == 0 && offsetof(Target, address) == 0);
static_assert(sizeof(Target) == FIELDCOST_TARGET_ENTRY_BYTES);
static_assert(shm::kTraceApis == intercept::kThunkCount);

}  // namespace fieldcost::events_preload
