#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/every_call.h"
#include "agent/intercept/thunk.h"
#include "common/shm/trace_file.h"

namespace fieldcost::events_preload {

struct ThreadState;
struct Record;

// An API that slots lead to. Written under the patch lock or in the constructor unless stated
// otherwise.
struct Target : intercept::TargetName {
  uint64_t hash;       // ApiHash(); 0: not used
  uint32_t described;  // 1 once it is in the arena; set by its first caller
  uint8_t reserved[20];
};

// The state of this process. Written by the constructor before any event is recorded; constant
// afterwards, except where noted.
struct Process : intercept::EveryCallProcess<Target, shm::TraceHeader, ThreadState> {
  shm::TraceNode* nodes;  // all chunks, as one array
  uint32_t usual_chunks;  // number available for any use; the rest is reserved for [other]
  uint32_t all_chunks;
  // kRecords per thread. A child of fork() has them, but not the threads' states.
  Record* records;
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

using intercept::fieldcost_attached;
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;

// The value of fieldcost_attached is kAttached and TraceEvents while this process is traced.
inline constexpr uint32_t kAttached = 1;

inline bool Takes(uint32_t events) {
  return __builtin_expect((__atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED) & events) != 0, 1);
}

static_assert(shm::kTraceApis == intercept::kThunkCount);

}  // namespace fieldcost::events_preload
