#pragma once

// The skip file: counts why program runs were not measured, since the memory directory
// (policy_file.h) was created. The daemon creates it at full size, so that counting needs no more
// space; preload libraries map it and add with one atomic instruction. `fieldcost agent status`
// shows the counts, except those of runs that were not drawn, as the policy intends; these are
// added up in the agent's database. Little endian. No C++ runtime.

#include <stdint.h>

namespace fieldcost::shm {

inline constexpr char kSkipMagic[8] = {'f', 'c', 's', 'k', 'i', 'p', 's', '1'};
inline constexpr char kSkipFileName[] = "skips";

// Indices into SkipFile::counts; never reused.
enum class Skip : uint32_t {
  kPolicyUnusable = 0,   // damaged; one of another version does not state where to count
  kSystemLoaded = 1,     // load average or CPU pressure
  kNoLease = 2,          // enough other programs are being measured
  kTooManyRunFiles = 3,  // the daemon has not collected them
  kNothingToPick = 4,    // no call to an allowed library was drawn
  kNoRunFile = 5,        // the run directory is missing, read-only or full
  kTightLimits = 6,      // the program's resource limits leave no room
  kSanitizer = 7,        // built with AddressSanitizer or similar
  kSandboxed = 8,        // entered seccomp: measured until then
  kNoMemory = 9,         // private memory could not be allocated
  kCollector = 10,       // its garbage collector scans registers: may have been measured until then
  kNotDrawn = 11,        // not selected at random, and not requested
  kPickTooLong = 12,     // the list of functions requested by name exceeds kMaxPickBytes
  kPicksLeftOut = 13,    // measured, but more than kMaxPicks APIs were requested by name
};
inline constexpr uint32_t kSkipCount = 14;

struct SkipFile {
  char magic[8];
  uint64_t reserved[7];
  uint64_t counts[64];  // by Skip
};
static_assert(sizeof(SkipFile) == 576);

}  // namespace fieldcost::shm
