#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {

// Passes the points to programs: in a plan in an in-memory directory (the *session*), and in
// environment variables.
//
//   FIELDCOST_ASSIGN(options.points, ReadPoints("probe.toml"));
//   FIELDCOST_ASSIGN(const auto variables, WritePlan(directory, options));
//   ... run the program with the variables; its files are directory/*.probe (ring_reader.h) ...

// A point before or after a function that a program calls through a slot.
struct NamedPoint {
  std::string label;  // empty: that of the event
  std::string event;  // empty: the thread's innermost, or else the process's
  std::string at;     // "library!symbol", '*' and '?' match
  std::uint32_t when = shm::kProbeEntry;
  bool begins = false;  // begins `event`, on entry if `when` includes that
  bool ends = false;    // ends it, on return if `when` includes that
  bool stack = false;
  std::uint8_t value = 0;  // 1..6: that argument, on entry; 7: the result; 0: none
};

struct Points {
  std::vector<NamedPoint> named;
  std::uint32_t automatic = shm::kProbeAllAutomatic;  // shm::ProbeAutomatic
};

// Reads probe.toml. kNotFound, kPermissionDenied, or kInvalidArgument, which names file, line, key
// and the permitted values.
Result<Points> ReadPoints(const std::filesystem::path& path);
// Parses a text in the same way; errors use `name` as the path.
Result<Points> ParsePoints(std::string_view text, std::string_view name);

struct PlanOptions {
  std::filesystem::path library;  // libfieldcost_probe.so
  Points points;
  std::uint64_t session = 0;               // random, not 0
  std::uint64_t tsc_to_ns_multiplier = 0;  // runs::CalibrateTsc(); 0: the TSC is unusable
  std::uint64_t start_unix_ns = 0;         // the current time, right before the program is started
  ::pid_t starter = 0;                     // the process that starts it, or becomes it; 0: none
  bool stacks = false;                     // points in the source code have stacks, too
  bool local = false;                      // never sent
  std::string build;                       // at most 63 bytes
  std::vector<std::string> tags;           // at most 8, of at most 31 bytes each
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Writes the plan to the directory, which must be in memory (tmpfs) and belong to the user. Returns
// the environment variables that programs need: LD_PRELOAD keeps its present value, except that
// this library replaces the field's. May be called again, e.g. with another start.
// kInvalidArgument, kTooLarge, kIo.
Result<Variables> WritePlan(const std::filesystem::path& directory, const PlanOptions& options);

struct PlanFacts {
  std::uint64_t session = 0;
  std::uint64_t start_unix_ns = 0;
  std::uint64_t tsc_to_ns_multiplier = 0;
  bool local = false;
  bool has_named_points = false;
  std::string build;
  std::vector<std::string> tags;
};
// Reads a session's plan, for its collector. kNotFound, kCorrupt, kUnsupported.
Result<PlanFacts> ReadPlan(const std::filesystem::path& directory);

}  // namespace fieldcost::probe
