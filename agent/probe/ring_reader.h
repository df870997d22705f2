#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/result.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {

// Reads a program's rings. The contents are untrusted and never mapped: the program may truncate
// its file at any time. Strings are as the program wrote them: bounded, with arbitrary bytes.

struct RingSite {
  std::string label;     // not empty, at most 64 bytes
  std::string file;      // empty: unknown; the same for function
  std::string function;  // for a named point: "library!symbol"
  std::uint32_t line = 0;
  shm::ProbeSiteKind kind = shm::kProbeSource;
  std::uint32_t automatic = 0;  // shm::ProbeAutomatic
};

// A loaded module of the program, recorded to resolve names after the program has ended.
struct RingModule {
  std::string path;
  std::string build_id;  // bytes; empty if it has none
  std::uint64_t base = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t code_offset = 0;  // file offset minus virtual address, modulo 2^64
};

// A hit. `registers` and `stack` are valid until the visitor returns.
struct RingHit {
  shm::ProbeKind kind = shm::kProbePoint;  // never kProbeFill
  std::uint32_t site = 0;                  // number, below shm::kProbeSites
  std::uint32_t thread = 0;
  std::uint64_t ticks = 0;
  std::uint64_t sequence = 0;  // within the thread, from 1
  shm::ProbeEventId event{};
  std::optional<std::uint64_t> value;
  std::uint64_t parent = 0;  // for kProbeJoin
  bool entered = false;      // for a named point: true on entry, false after the return
  bool returned = false;
  const shm::ProbeRegisters* registers = nullptr;  // null: without a stack
  std::span<const std::uint64_t> stack;            // words starting at registers->sp
  bool stack_is_short = false;                     // shorter than usual
};

// Facts about a program's run. Those that change are as of the last Refresh().
struct RunFacts {
  std::uint64_t run = 0;  // not 0
  std::uint64_t session = 0;
  std::uint32_t pid = 0;  // as the program sees it
  std::uint32_t parent_pid = 0;
  std::string program;                     // path; may be empty
  std::uint64_t tsc_to_ns_multiplier = 0;  // 0: ticks are ns of CLOCK_MONOTONIC
  std::uint64_t start_ticks = 0;           // the same moment by four clocks
  std::uint64_t start_unix_ns = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_boot_ns = 0;
  std::uint64_t process_start_unix_ns = 0;
  // These can change.
  bool attached = false;          // false: entered a sandbox, and is no longer observed
  bool ended = false;             // its exit was recorded
  std::uint64_t lost_hits = 0;    // of threads without a ring, or of sites that were not stored
  std::uint64_t dropped = 0;      // in all rings, for lack of space
  std::uint64_t interrupted = 0;  // in all rings, in signal handlers
  std::uint32_t site_count = 0;   // at most shm::kProbeSites
  // One bit per point of the plan: set if it was placed at a function of the program.
  std::array<std::uint64_t, shm::kMaxProbePoints / 64> placed{};
  std::vector<shm::ProbeEventId> incomplete;  // events that lost a hit; sorted, without duplicates
  // More events lost a hit than can be listed: all events that were open at any time in this
  // interval, in ticks.
  bool all_incomplete = false;
  std::uint64_t open_from_ticks = 0;
  std::uint64_t open_until_ticks = 0;

  // Unix time of a hit. If clocks run backwards or too far, it is clamped to `start_unix_ns` or
  // 2^63.
  std::uint64_t UnixNs(std::uint64_t ticks) const;
};

// One program's file, opened by its only reader, which holds flock(LOCK_EX); this does not conflict
// with the program's own lock (fcntl). Movable; not thread-safe.
class RingFile {
 public:
  // kNotFound: it is gone. kUnavailable: its writer is still creating it, another process reads it,
  // or too many files are open; try again later. kCorrupt: not a ring file of this user.
  // kUnsupported: another version. kIo: a local error.
  static Result<RingFile> Open(const std::filesystem::path& path);

  const RunFacts& facts() const { return facts_; }
  // Rereads the header and all rings. kCorrupt, kIo.
  Status Refresh();

  // Whether the process is alive and has not called exec; true if unknown. Call it before the last
  // Refresh() and Read(): data read after a `false` is final.
  bool IsBeingWritten() const;

  // The end of the released part of the ring; start there if no other position is known.
  std::uint64_t tail(std::size_t ring) const { return rings_[ring].tail; }
  // The end of the written part, as of the last Refresh().
  std::uint64_t head(std::size_t ring) const { return rings_[ring].head; }
  // Its capacity, beyond which its thread loses hits or moves to an area.
  std::uint64_t room(std::size_t ring) const {
    return rings_[ring].area == 0 ? shm::kProbeRingBytes : shm::kProbeAreaBytes;
  }

  struct Progress {
    std::uint64_t position = 0;  // where to continue: after the last visited hit
    bool at_end = true;          // false: `most` was reached first
  };
  // Calls visit(hit) for at most `most` hits of a ring in [position, head), in the ring's order.
  // REQUIRES: ring < shm::kProbeRings; position is tail() or comes from a Progress. kCorrupt: this
  // ring is invalid, but others in the file may be sound. kIo.
  Result<Progress> Read(std::size_t ring, std::uint64_t position, std::size_t most,
                        const std::function<void(const RingHit&)>& visit) const;
  // Releases the space before `position`, which comes from a Progress; the program may reuse it.
  // REQUIRES: ring < shm::kProbeRings.
  Status Release(std::size_t ring, std::uint64_t position);

  // Overwrites the file's copies of the program's memory (registers, raw stacks, records already
  // read) once; hits keep their times and sites. REQUIRES: IsBeingWritten() was false before the
  // last Refresh().
  Status Wipe();

  // The completely written modules, in the order in which they were loaded.
  std::vector<RingModule> Modules() const;

  // The site that a hit refers to. nullopt: it is invalid, or not complete (yet).
  std::optional<RingSite> Site(std::uint32_t number) const;

 private:
  RingFile() = default;
  Status ReadHeader();
  Status ReadRings();
  // A piece of the file that contains unread records.
  struct Kept {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  Status WipeRing(std::size_t ring, std::vector<Kept>& kept);
  Status Clear(std::uint64_t begin, std::uint64_t end);

  UniqueFd fd_;
  std::string name_;
  RunFacts facts_;
  // The place of a ring's bytes, from a position on, in the file.
  struct Part {
    std::uint64_t file_offset = 0;  // of the position
    std::uint64_t bytes = 0;        // available there, at most up to the head
    std::uint64_t to_ring_end = 0;  // where places start again
  };
  Part PartAt(std::size_t ring, std::uint64_t position) const;
  bool IsWithin(std::size_t ring, std::uint64_t position) const;

  struct Ring {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint64_t grown_at = 0;
    std::uint32_t area = 0;  // number + 1; 0: none
  };
  std::vector<Ring> rings_;
};

}  // namespace fieldcost::probe
