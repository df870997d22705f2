#pragma once

// The files exchanged between `fieldcost probe run` and libfieldcost_probe.so: a plan, and per
// program a file with rings to which its threads write the points that they pass. Both are in an
// in-memory directory that the command creates for itself: its *session*. Little endian, fixed
// layout, x86-64 only. No C++ runtime. Readers do not trust the files.
//
//   plan:  ProbePlan | ProbePlanPoint[point_count]
//   rings: ProbeHeader | ProbeSite[kProbeSites] | ProbeRing[kProbeRings]
//          | kProbeRings * kProbeRingBytes | ProbeModule[kProbeModules]
//          | kProbeAreas * kProbeAreaBytes
//
// A ring has one writer, its thread, and one reader. Positions count bytes since the beginning,
// modulo 2^64; a place is a position modulo kProbeRingBytes. A full ring moves once to an area of
// its own: from the position `grown_at` on, a place is the position minus `grown_at`, modulo
// kProbeAreaBytes. The writer fills [head, ...) and then stores head with release semantics.
// Records begin at multiples of 64 bytes and do not cross the end of the ring; a record of kind
// kProbeFill fills the rest. The reader maps nothing, since the file may be truncated: it writes
// `tail`, for the next reader, and then `given_back`, for the writer; that is a single byte, so no
// torn value can be read.

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::shm {

// The absolute path of the session's directory; set for the programs.
inline constexpr char kProbeDirectoryVariable[] = "FIELDCOST_PROBE_DIR";
inline constexpr char kProbePlanName[] = "plan";
inline constexpr char kProbeFileSuffix[] = ".probe";
inline constexpr char kProbePlanMagic[8] = {'f', 'c', 'p', 'r', 'b', 'p', 'l', 'n'};
inline constexpr char kProbeMagic[8] = {'f', 'c', 'p', 'r', 'b', 'r', 'n', 'g'};
inline constexpr uint32_t kProbeVersion = 1;

inline constexpr uint32_t kProbeSites = 2048;
inline constexpr uint32_t kProbeRings = 64;
inline constexpr uint64_t kProbeRingBytes = 1 << 20;
// Holds a second of points at 200,000 points per second and thread, even if they are not read.
inline constexpr uint32_t kProbeAreas = 32;
inline constexpr uint64_t kProbeAreaBytes = 16 << 20;
inline constexpr uint64_t kProbeBlockBytes = 128 << 10;  // the unit in which space is released
static_assert(200 * kProbeBlockBytes > kProbeRingBytes + kProbeAreaBytes, "one byte counts them");
static_assert(kProbeAreaBytes >= 200'000 * 64);
inline constexpr uint32_t kProbeStackBytes = 2048;  // maximum raw stack per hit
// Used once half of the ring (1/8 of an area) is full; from 3/4 (1/4) on, there is no stack.
inline constexpr uint32_t kProbeShortStackBytes = 512;
inline constexpr uint32_t kProbeLabelBytes = 65;  // including the terminating zero
inline constexpr uint32_t kMaxProbePoints = 256;  // per plan
inline constexpr uint32_t kMaxProbeTags = 8;

// Points that are placed automatically; bits.
enum ProbeAutomatic : uint32_t {
  kProbeStart = 1,        // the process begins; time from `probe run`, or else from /proc
  kProbeLoaded = 2,       // the library's constructor
  kProbeMain = 4,         // main() is about to be called
  kProbeFirstOutput = 8,  // first write, flush or stdio call on descriptor 1 or 2
  kProbeDlopen = 16,      // entry
  kProbeExec = 32,        // entry
  kProbeExit = 64,        // exit() or _exit(), or return from main
};
inline constexpr uint32_t kProbeAllAutomatic = 127;
enum ProbeWhen : uint32_t { kProbeEntry = 1, kProbeReturn = 2, kProbeBoth = 3 };

// A point before or after a function, given by a pattern.
struct ProbePlanPoint {
  char pattern[256];  // "library!symbol" glob, as for traces
  char label[kProbeLabelBytes];
  char event[kProbeLabelBytes];  // the event it belongs to; empty: the thread's
  uint8_t begins;                // 1: it begins the event `event`
  uint8_t ends;                  // 1: it ends it
  uint8_t stack;                 // 1: with a stack record
  uint8_t value;  // 1..6: with the value of that argument (on entry), 7: of the result; 0: none
  uint16_t when;  // ProbeWhen
  uint8_t reserved[120];
};
static_assert(sizeof(ProbePlanPoint) == 512);

struct ProbePlan {
  char magic[8];
  uint32_t version;
  uint32_t point_count;
  uint64_t size_bytes;
  uint64_t session;               // random, not 0
  uint64_t tsc_to_ns_multiplier;  // 32.32 fixed point; 0: ticks are ns of CLOCK_MONOTONIC
  uint64_t start_unix_ns;         // when the first program was started
  uint32_t automatic;             // ProbeAutomatic
  uint32_t stacks;                // 1: points in the source code have stacks, too
  uint32_t local;                 // 1: never sent
  uint32_t tag_count;
  char build[64];  // the user's name for it; empty: derived from the program
  char tags[kMaxProbeTags][32];
  uint32_t starter_pid;  // start_unix_ns applies to this process or its child; 0: to none
  uint8_t reserved[124];
};
static_assert(sizeof(ProbePlan) == 512);

enum ProbeKind : uint16_t {
  kProbeFill = 0,  // padding up to the end of the ring
  kProbePoint = 1,
  kProbeBegin = 2,  // the event begins
  kProbeEnd = 3,    // the event ends
  kProbeJoin = 4,   // this process joins an event that another one began
};

// An event: the run (process) that began it, and its number within that run. Together, big endian,
// they are the 16 bytes of W3C's trace-id. Number 0 is the process's own event, from its start to
// its end.
struct ProbeEventId {
  uint64_t run;
  uint64_t number;
};

struct ProbeRegisters {
  uint64_t ip;  // return address of the point's call
  uint64_t sp;  // after the return
  uint64_t bp;
  uint64_t bx;
  uint64_t r12;
  uint64_t r13;
  uint64_t r14;
  uint64_t r15;
};

// A hit. The sequence restarts at 1 when another thread takes over the ring. With a stack,
// ProbeRegisters and `stack_bytes` (a multiple of 8) of raw stack from sp on follow.
struct ProbeRecord {
  uint16_t size_bytes;  // of the whole record, a multiple of 64
  uint16_t kind;        // ProbeKind
  uint16_t stack_bytes;
  uint16_t flags;   // ProbeRecordFlag
  uint32_t site;    // number
  uint32_t thread;  // its id
  uint64_t ticks;
  uint64_t sequence;  // number of the hit in its thread, from 1; gaps are dropped hits
  ProbeEventId event;
  uint64_t value;
  uint64_t parent;  // for kProbeJoin: parent-id of the traceparent; else 0
};
static_assert(sizeof(ProbeRecord) == 64 && sizeof(ProbeRegisters) == 64);

enum ProbeRecordFlag : uint32_t {
  kProbeHasRegisters = 1,
  kProbeHasValue = 2,
  kProbeShortStack = 4,  // shorter than usual, for lack of space
  kProbeEntered = 8,     // for a named point: on entry
  kProbeReturned = 16,   // for a named point: after the return
};

enum ProbeSiteKind : uint32_t { kProbeSource = 0, kProbeNamed = 1, kProbeAutomaticSite = 2 };

struct ProbeSite {
  char label[kProbeLabelBytes];
  char file[255];      // empty: unknown
  char function[128];  // for a named point: "library!symbol"
  uint32_t line;
  uint32_t kind;       // ProbeSiteKind
  uint32_t automatic;  // ProbeAutomatic bit, for an automatic point
  uint32_t complete;   // 1, written last
  uint8_t reserved[48];
};
static_assert(sizeof(ProbeSite) == 512);

inline constexpr uint32_t kProbeModules = 256;
// A loaded module, for naming stacks after the program has ended. A later module may have the
// addresses of an earlier one.
struct ProbeModule {
  char path[256];
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t complete;  // 1, written last
  uint64_t base;      // to be added to its virtual addresses
  uint64_t begin;     // its mapped range
  uint64_t end;
  uint64_t code_offset;  // of its code: file offset minus virtual address, modulo 2^64
  uint8_t reserved[56];
};
static_assert(sizeof(ProbeModule) == 384);

inline constexpr uint32_t kProbeIncomplete = 16;
struct ProbeRing {
  uint32_t threads;      // that successively owned it; 0: never used
  uint32_t tid;          // of the last one
  uint64_t head;         // writer's
  uint64_t tail;         // reader's; the writer does not read it
  uint64_t dropped;      // hits that did not fit
  uint64_t interrupted;  // hits in signal handlers that interrupted another hit of the thread
  // Events that lost a hit here; if more than kProbeIncomplete, all that were open meanwhile.
  uint32_t incomplete_count;
  uint8_t given_back;  // reader's: released blocks of kProbeBlockBytes, modulo 256
  uint8_t reserved8[3];
  ProbeEventId incomplete[kProbeIncomplete];
  uint64_t open_from_ticks;  // all events open in this interval are incomplete; 0, 0: none
  uint64_t open_until_ticks;
  uint64_t grown_at;  // position
  uint32_t area;      // number + 1, written before any position beyond; 0: none
  uint8_t reserved[180];
};
static_assert(sizeof(ProbeRing) == 512);

struct ProbeHeader {
  char magic[8];
  uint32_t version;
  uint32_t complete;  // 1 once everything above `attached` has been written
  uint64_t size_bytes;
  uint64_t session;
  uint64_t run;  // random, not 0
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t tsc_to_ns_multiplier;  // same as in the plan
  uint64_t start_ticks;           // the same moment by four clocks, with the next three
  uint64_t start_unix_ns;
  uint64_t start_monotonic_ns;
  uint64_t start_boot_ns;
  uint64_t process_start_unix_ns;  // of the process
  char program[512];               // path
  uint32_t attached;               // 0: in a sandbox, or loaded a library that rules this out
  uint32_t site_count;             // claimed; may exceed kProbeSites: the rest was not stored
  uint64_t lost_hits;              // of threads without a ring, or of sites that were not stored
  uint64_t next_number;            // of events
  uint64_t ended;                  // 1: the exit was recorded
  uint32_t incomplete_count;       // as in a ring, for lost_hits
  uint32_t module_count;           // may exceed kProbeModules: the rest is unknown
  ProbeEventId incomplete[kProbeIncomplete];
  uint64_t open_from_ticks;
  uint64_t open_until_ticks;
  uint32_t area_count;  // claimed; may exceed kProbeAreas
  uint32_t wiped;       // reader's, after the program's end: 1 once its rings contain no stacks
  uint64_t placed[kMaxProbePoints / 64];  // bit per point of the plan: placed at a function here
  uint8_t reserved[3136];
};
static_assert(sizeof(ProbeHeader) == 4096 && offsetof(ProbeHeader, attached) == 608);

constexpr uint64_t ProbeSitesOffset() { return sizeof(ProbeHeader); }
constexpr uint64_t ProbeRingsOffset() {
  return ProbeSitesOffset() + kProbeSites * sizeof(ProbeSite);
}
constexpr uint64_t ProbeDataOffset() {
  return ProbeRingsOffset() + kProbeRings * sizeof(ProbeRing);
}
constexpr uint64_t ProbeModulesOffset() {
  return ProbeDataOffset() + kProbeRings * kProbeRingBytes;
}
constexpr uint64_t ProbeAreasOffset() {
  return ProbeModulesOffset() + kProbeModules * sizeof(ProbeModule);
}
constexpr uint64_t ProbeFileBytes() { return ProbeAreasOffset() + kProbeAreas * kProbeAreaBytes; }
static_assert(ProbeDataOffset() % 4096 == 0 && ProbeAreasOffset() % 4096 == 0 &&
              ProbeFileBytes() % 4096 == 0);

}  // namespace fieldcost::shm
