#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/events/arena_reader.h"
#include "common/base/result.h"
#include "common/shm/trace_file.h"

namespace fieldcost::events {

// Traces a program's events from outside: prepare a directory, run the program (and its children)
// with the returned variables, then read the arenas that they left.
//
//   FIELDCOST_ASSIGN(const auto variables, Prepare(directory, options));
//   ... run the program ...
//   FIELDCOST_ASSIGN(const Arenas arenas, TakeArenas(directory));
//   ... EventValues() of each, into one dictionary (event_tree.h) ...

struct TraceOptions {
  std::filesystem::path library;  // libfieldcost_events.so
  bool functions = false;         // in code built with -finstrument-functions
  bool branches = false;          // in code built with -fsanitize-coverage=trace-pc[-guard]
  std::string globs;        // "library!symbol", comma-separated: trace these calls; no rebuild
  bool data_slots = false;  // calls through all data slots, which changes &function
  std::uint64_t arena_bytes = shm::kTraceUsualArenaBytes;  // a multiple of kTraceChunkBytes
  std::uint64_t tsc_to_ns_multiplier = 0;                  // runs::CalibrateTsc()
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Writes the plan to the directory, which must be in memory (tmpfs) and belong to this process.
// Returns the environment variables that the program needs: LD_PRELOAD keeps its present value,
// except that this library replaces the field's. kInvalidArgument, kTooLarge, kIo.
Result<Variables> Prepare(const std::filesystem::path& directory, const TraceOptions& options);

struct Arenas {
  std::vector<Arena> arenas;  // one per program; each exec creates another
  std::uint32_t refused = 0;  // files that could not be parsed
};

// Reads the arenas that programs left, and removes those of ended programs. Arenas of running
// programs are read in their current state; a later read returns at least as much.
Result<Arenas> TakeArenas(const std::filesystem::path& directory);

}  // namespace fieldcost::events
