#pragma once

// The policy file: what the daemon (or `fieldcost`) tells every preload library on this machine.
// The preload library maps it read-only and believes nothing it cannot check; a file it does not
// understand means "do nothing". Little endian, fixed layout, x86-64 only. No C++ runtime.

#include <stdint.h>

#include "common/shm/metric.h"

namespace fieldcost::shm {

inline constexpr char kPolicyMagic[8] = {'f', 'c', 'p', 'o', 'l', 'i', 'c', 'y'};
inline constexpr uint32_t kPolicyVersion = 1;
inline constexpr uint32_t kMaxAllowedModules = 1024;
inline constexpr uint32_t kMaxSonameBytes = 64;  // with the final zero
inline constexpr uint32_t kMaxPicks = 512;

// File name inside the state directory, and of the directory that takes the run files.
inline constexpr char kPolicyFileName[] = "policy";
inline constexpr char kRunDirectoryName[] = "runs";

// The environment through which `fieldcost run` reaches the preload library.
inline constexpr char kStateDirVariable[] = "FIELDCOST_STATE_DIR";  // absolute path
inline constexpr char kPickVariable[] = "FIELDCOST_PICK";           // glob "soname!symbol"
inline constexpr char kMetricsVariable[] = "FIELDCOST_METRICS";     // "time", "alloc", "time,alloc"

struct AllowedModule {
  char soname[kMaxSonameBytes];  // zero-terminated
};

struct PolicyHeader {
  char magic[8];
  uint32_t version;
  uint32_t size_bytes;           // of the whole file
  uint32_t policy_serial;        // grows with every new policy; 0 = built in
  uint32_t collection_enabled;   // 0: only forced picks may run; the library is inert otherwise
  uint32_t selection_per_65536;  // a run takes part if random16 < this (65536 = always)
  uint32_t picks_per_run;        // 1..kMaxPicks
  uint32_t max_load_per_core_percent;  // no start above this 1-minute load average; 0 = no limit
  uint32_t max_run_files;         // no start while the run directory holds this many; 0 = no limit
  uint32_t alloc_per_65536;       // a run that takes part also meters allocation if random16 < this
  uint32_t allowed_module_count;  // AllowedModule entries after the header, sorted by soname
  uint64_t
      tsc_to_ns_multiplier;  // ns = (ticks * multiplier) >> 32; 0 = no usable time stamp counter
  uint64_t reserved[4];
};
static_assert(sizeof(PolicyHeader) == 88);
static_assert(sizeof(AllowedModule) == 64);

}  // namespace fieldcost::shm
