#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::probe {

// Data from probe points as stored, sent and shown. Values; times are nanoseconds since 1970 (from
// the machine's own clock, extended by a monotonic one within a run).

// An event: the run that began it, and its number there; number 0 is the run's own event. The text
// form has 32 hex digits, called trace-id in W3C Trace Context.
struct EventId {
  std::uint64_t run = 0;
  std::uint64_t number = 0;
  auto operator<=>(const EventId&) const = default;

  std::string Hex() const;
  static std::optional<EventId> Parse(std::string_view untrusted_text);
};

// A program from its start to its end; a session has several runs if its program starts others.
struct Run {
  std::uint64_t id = 0;       // random
  std::uint64_t session = 0;  // random; per `fieldcost probe run`
  std::string program;        // file name
  std::string build;          // the user's name for it, or else the beginning of its build-id
  std::vector<std::string> tags;
  std::uint64_t start_ns = 0;
  std::uint64_t disk_read_bytes = 0;
  // Points that were passed but lost: no space in a ring, no ring, no space for the site, or in a
  // signal handler. Whole events may be missing.
  std::uint64_t lost_hits = 0;
  // How long its first thread waited for a CPU, and for how many ns it ran or could have run; 0 and
  // 0: not measured.
  std::uint64_t waited_ns = 0;
  std::uint64_t observed_ns = 0;
  bool operator==(const Run&) const = default;
};

enum class SiteKind : std::uint8_t { kSource = 0, kNamed = 1, kAutomatic = 2 };

// The source location of a point.
struct Site {
  std::string label;
  std::string function;  // for a named point: "library!symbol"; empty if unknown
  std::string file;
  std::uint32_t line = 0;
  SiteKind kind = SiteKind::kSource;
  bool operator==(const Site&) const = default;
};

struct Frame {
  std::string function;  // empty: unknown
  std::string module;    // file name of the program or library
  std::string file;      // empty: unknown
  std::uint32_t line = 0;
  auto operator<=>(const Frame&) const = default;
};

// Innermost frame first; indices into a batch's frames.
struct Stack {
  std::vector<std::uint32_t> frames;
  bool is_cut = false;  // further frames are missing
  bool operator==(const Stack&) const = default;
};

// The current state of an event, which may not be over. A later state of the same event is merged
// with it: flags are or-ed, and the later times are kept.
struct EventInfo {
  EventId id;
  std::uint32_t run = 0;       // index of the run that reports it
  std::string label;           // empty: began elsewhere, unknown here
  std::uint64_t begin_ns = 0;  // 0: began elsewhere
  std::uint64_t end_ns = 0;    // 0: not yet
  bool is_incomplete = false;  // some hits were lost
  bool is_suspended = false;   // the machine slept meanwhile
  bool operator==(const EventInfo&) const = default;
};

// The numbers are part of the wire format and the database, and are never reused.
enum class HitKind : std::uint8_t { kPoint = 1, kBegin = 2, kEnd = 3, kJoin = 4 };

inline constexpr std::uint32_t kNoStack = ~std::uint32_t{0};

// A hit: a point was passed.
struct Hit {
  EventId event;
  std::uint32_t run = 0;  // indices
  std::uint32_t site = 0;
  std::uint32_t stack = kNoStack;
  HitKind kind = HitKind::kPoint;
  std::uint64_t ns = 0;
  std::uint32_t thread = 0;    // the system's thread id
  std::uint64_t sequence = 0;  // within the thread
  std::optional<std::uint64_t> value;
  std::uint64_t parent = 0;  // for kJoin: parent-id
  bool operator==(const Hit&) const = default;
};

// One message. Every index refers to a vector in it.
struct Batch {
  std::uint64_t sequence = 0;  // number of the device's batch, from 1
  std::vector<Run> runs;
  std::vector<Site> sites;
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<EventInfo> events;
  std::vector<Hit> hits;
  bool operator==(const Batch&) const = default;
};

}  // namespace fieldcost::probe
