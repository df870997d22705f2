#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/lab_file.h"

namespace fieldcost::lab_preload {

struct ThreadState;

// The reasons depend on the call's first argument: intercept::HiddenBySystemCall().
inline constexpr uint8_t kHiddenByArgument = 0x80;
static_assert(shm::kAllNotMeasured < kHiddenByArgument);

// An API that slots lead to, intercepted by the thunk with the same number. Its pointers refer to
// its provider's memory; null names: the provider was unloaded. Written under the patch lock or in
// the constructor unless stated otherwise.
struct Target {
  uint64_t address;  // the real function, or a wrapper around it
  const char* module;
  const char* symbol;
  const char* version;
  uint64_t hash;         // ApiHash(); 0: not used
  uint32_t described;    // 1: in the lab file, 2: no room there; set by the first caller
  uint32_t first_taken;  // 1 once a call has counted as the process's first one
  uint8_t role;          // shm::LabRole
  uint8_t argument;
  uint8_t is_allocator;
  uint8_t hidden;  // shm::NotMeasured: why its calls are not measured, or kHiddenByArgument
  uint8_t reserved[12];
};

// The state of this process. Written by the constructor before any slot is patched; constant
// afterwards, unless stated otherwise.
struct Process {
  Target targets[intercept::kThunkCount];
  uint32_t target_count;  // grows, under the patch lock
  uint32_t mode;          // shm::LabMode
  shm::LabHeader* header;
  uint64_t file;         // address of the mapped file
  ThreadState* threads;  // kThreadSlots elements
  uint64_t block_bytes;
  uint64_t ticks_to_ns;  // 32.32 fixed point
  uint64_t bias_ticks;
  uint64_t stack_top;  // highest address in use of the first thread's stack
  uint32_t pid;
  uint32_t not_measured;  // shm::NotMeasured for calls that end from now on; changes at any time
  uint32_t never_reuse;   // frames that seem dead may return: greenlet is loaded; changes once
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

// Not 0 while this process is measured. First word of a page that fork() zeroes in the child
// (MADV_WIPEONFORK).
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;

inline bool IsAttached() {
  return __builtin_expect(__atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED) != 0, 1);
}

inline shm::LabApi* ApiOf(uint32_t api) {
  return reinterpret_cast<shm::LabApi*>(process.file + shm::LabApisOffset()) + api;
}
inline uint64_t* PairRowOf(uint32_t api) {
  return reinterpret_cast<uint64_t*>(process.file + shm::LabPairsOffset() +
                                     api * shm::kLabRowBytes);
}
inline shm::LabNode* NodesOf(uint32_t slot) {
  return reinterpret_cast<shm::LabNode*>(process.file + shm::LabNodesOffset()) +
         uint64_t{slot} * shm::kLabNodes;
}

// The thunk's assumptions about the layout.
static_assert(offsetof(Process, targets) == 0 && offsetof(Target, address) == 0);
static_assert(sizeof(Target) == FIELDCOST_TARGET_ENTRY_BYTES);
static_assert(shm::kLabApis == intercept::kThunkCount);

}  // namespace fieldcost::lab_preload
