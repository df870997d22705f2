#pragma once

// The policy file, by which the daemon (or `fieldcost`) controls all preload libraries of a user on
// this machine. The preload library maps it read-only and validates everything; a file that it
// cannot interpret means "do nothing". Little endian, fixed layout, x86-64 only. No C++ runtime.

#include <stdint.h>

#include "common/shm/metric.h"
#include "common/shm/mix.h"

namespace fieldcost::shm {

inline constexpr char kPolicyMagic[8] = {'f', 'c', 'p', 'o', 'l', 'i', 'c', 'y'};
inline constexpr uint32_t kPolicyVersion = 1;
inline constexpr uint32_t kMaxAllowedModules = 1024;
inline constexpr uint32_t kMaxSonameBytes = 64;  // including the terminating zero
inline constexpr uint32_t kMaxWeights = 32768;
inline constexpr uint32_t kMaxDocumentedBytes = 262144;
inline constexpr uint32_t kMaxPicks = 512;
inline constexpr uint32_t kMaxLeases = 64;
inline constexpr uint32_t kMaxSamplingLog2 = 14;
inline constexpr uint32_t kFullWeight = 65536;
inline constexpr uint32_t kCertain = 65536;  // a probability `per_65536`

inline constexpr uint32_t kMaxMemoryDirBytes = 512;  // including the terminating zero

// The name in the state directory.
inline constexpr char kPolicyFileName[] = "policy";
// Names in the memory directory: the leases (the holder of lease i locks byte i of this file), and
// the directory for run files. skip_file.h has the third.
inline constexpr char kLeaseFileName[] = "leases";
inline constexpr char kRunDirectoryName[] = "runs";

// The environment variables by which `fieldcost run` controls the preload library.
inline constexpr char kStateDirVariable[] = "FIELDCOST_STATE_DIR";  // absolute path
inline constexpr char kPickVariable[] = "FIELDCOST_PICK";           // globs "soname!symbol"
inline constexpr uint32_t kMaxPickBytes = 2048;                     // with the terminating zero
// A decimal number from 1, set by a command that requests this run: measure regardless of the draw.
inline constexpr char kAskedVariable[] = "FIELDCOST_ASKED";
inline constexpr char kMetricsVariable[] = "FIELDCOST_METRICS";  // e.g. "time,alloc"

struct AllowedModule {
  char soname[kMaxSonameBytes];  // zero-terminated
};

// The probability that an API is taken when the random draw finds it; see selection.h.
struct WeightEntry {
  uint64_t api_hash;  // ApiHash()
  uint32_t weight;    // 0 (never) .. kFullWeight
  uint32_t reserved;
};

// The number of a name in the documented names.
constexpr uint64_t DocumentedNumber(const char* symbol) { return FinaliseBits(HashText(symbol)); }

// The bit that represents the name with this number. Other names may share it: a set bit means that
// the name is probably documented, a clear one that it certainly is not. REQUIRES: `bytes` is a
// power of two.
constexpr uint64_t DocumentedBit(uint64_t number, uint32_t bytes) {
  return number & (uint64_t{bytes} * 8 - 1);
}

// Returns whether `bytes` is a possible size of the documented names.
constexpr bool IsDocumentedSize(uint32_t bytes) {
  return bytes <= kMaxDocumentedBytes && (bytes & (bytes - 1)) == 0;
}

//   PolicyHeader | AllowedModule[allowed_module_count] | WeightEntry[weight_count]
//   | uint8_t[documented_bytes]
// Modules are ascending by soname, weights by hash. The documented names are at the end: bit i % 8
// of byte i / 8 is set if a name with DocumentedBit() i is documented.
struct PolicyHeader {
  char magic[8];
  uint32_t version;
  uint32_t size_bytes;           // of the whole file
  uint32_t policy_serial;        // increases with every new policy; 0 = built in
  uint32_t collection_enabled;   // 0: only forced picks may run; the library is inert otherwise
  uint32_t selection_per_65536;  // a run is measured if random16 < this (65536 = always)
  uint32_t picks_per_run;        // 1..kMaxPicks
  uint32_t max_load_per_core_percent;  // no start above this 1-minute load average; 0 = no limit
  uint32_t max_run_files;         // no start while the run directory holds this many; 0 = no limit
  uint32_t alloc_per_65536;       // a measured run also measures allocation if random16 < this
  uint32_t allowed_module_count;  // AllowedModule entries
  uint64_t
      tsc_to_ns_multiplier;  // ns = (ticks * multiplier) >> 32; 0 = no usable time stamp counter
  uint32_t weight_count;     // WeightEntry entries
  uint32_t default_weight;   // for APIs without an entry, 1..kFullWeight
  uint32_t max_leases;       // programs measured at once, 1..kMaxLeases; 0 = no limit
  // No start while some task waited for a CPU for more than this share of the last 10 s
  // (/proc/pressure/cpu, "some avg10"); 0 = no limit. If the kernel does not report pressure, only
  // the load average is checked.
  uint32_t max_cpu_pressure_percent;
  uint32_t
      overhead_per_65536;     // share of a thread's CPU time that measuring may take; 0 = no limit
  uint32_t io_per_65536;      // a measured run measures only I/O if random16 < this
  uint32_t cycles_per_65536;  // a measured run also records cycles if random16 < this
  uint32_t sampling_log2;     // initially one in 2^this calls is timed; 0 = all
  uint32_t phase_seconds;     // after this time a run picks again; 0 = never
  uint32_t max_phases;        // limit on picks per process: picks_per_run times this, or kMaxPicks
  uint64_t draw_seed;         // nonzero: replaces the kernel's random number, for repeatable runs
  uint32_t data_slots;        // 1: also calls through GLOB_DAT slots, which changes &function
  uint32_t weights_policy;    // version of the service's policy included in the weights; 0: none
  // The directory for everything that programs map and write, on a file system whose pages are
  // memory (tmpfs, ramfs). On any other, a store can fail long after its page was present (no space
  // for a copy on write, a quota, a dead disk or network), and then the program gets a signal.
  uint32_t memory_root_bytes;  // length of the prefix of memory_dir that is the root, which only
                               // this user owns; 0: no such directory, measure nothing
  // If nonzero, `collection_enabled` is 0 only until then.
  uint32_t resume_unix_second;
  uint32_t documented_bytes;            // 0: documentation unknown; or a power of two
  uint32_t documented_source;           // used by the agent to notice changes of the documentation
  char memory_dir[kMaxMemoryDirBytes];  // absolute, zero-terminated; programs create missing parts
};
static_assert(sizeof(PolicyHeader) == 128 + kMaxMemoryDirBytes);
static_assert(sizeof(AllowedModule) == 64);
static_assert(sizeof(WeightEntry) == 16);

}  // namespace fieldcost::shm
