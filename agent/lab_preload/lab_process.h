#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/every_call.h"
#include "agent/intercept/thunk.h"
#include "common/shm/lab_file.h"

namespace fieldcost::lab_preload {

struct ThreadState;

// The reasons depend on the call's first argument: intercept::HiddenBySystemCall().
inline constexpr uint8_t kHiddenByArgument = 0x80;
static_assert(shm::kAllNotMeasured < kHiddenByArgument);

// An API that slots lead to. Written under the patch lock or in the constructor unless stated
// otherwise.
struct Target : intercept::TargetName {
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
struct Process : intercept::EveryCallProcess<Target, shm::LabHeader, ThreadState> {
  uint32_t mode;          // shm::LabMode
  uint32_t not_measured;  // shm::NotMeasured for calls that end from now on; changes at any time
  uint64_t block_bytes;
  uint64_t ticks_to_ns;  // 32.32 fixed point
  uint64_t bias_ticks;
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;

using intercept::fieldcost_attached;
using intercept::IsAttached;

inline shm::LabApi* ApiOf(uint32_t api) {
  return process.InFile<shm::LabApi>(shm::LabApisOffset(), api);
}
inline uint64_t* PairRowOf(uint32_t api) {
  return process.InFile<uint64_t>(shm::LabPairsOffset() + api * shm::kLabRowBytes, 0);
}
inline shm::LabNode* NodesOf(uint32_t slot) {
  return process.InFile<shm::LabNode>(shm::LabNodesOffset(), uint64_t{slot} * shm::kLabNodes);
}

static_assert(shm::kLabApis == intercept::kThunkCount);

}  // namespace fieldcost::lab_preload
