#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/trace/arena_reader.h"
#include "common/base/result.h"
#include "common/shm/trace_file.h"

namespace fieldcost::trace {

// How a program's events are traced, from outside: prepare a directory, run the program with the
// variables that are returned (as well as all it starts), take what was left.
//
//   FIELDCOST_ASSIGN(const auto variables, Prepare(directory, options));
//   ... run the program ...
//   FIELDCOST_ASSIGN(const Arenas arenas, TakeArenas(directory));
//   ... EventValues() of each, into one dictionary (event_tree.h) ...

struct TraceOptions {
  std::filesystem::path library;  // libfieldcost_trace.so
  bool functions = false;         // of code built with -finstrument-functions
  bool branches = false;          // of code built with -fsanitize-coverage=trace-pc[-guard]
  std::string globs;              // "library!symbol", comma-separated: calls of these, no rebuild
  bool data_slots = false;        // calls through all data slots, which changes &function
  std::uint64_t arena_bytes = shm::kTraceUsualArenaBytes;  // a multiple of kTraceChunkBytes
  std::uint64_t tsc_to_ns_multiplier = 0;                  // agent::CalibrateTsc()
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Leaves the plan in the directory, which is on memory (tmpfs) and this process's own, and says
// which environment variables the program needs: LD_PRELOAD is what there is now, with the library
// in the place of the field's. kInvalidArgument, kTooLarge, kIo.
Result<Variables> Prepare(const std::filesystem::path& directory, const TraceOptions& options);

struct Arenas {
  std::vector<Arena> arenas;  // one a program: each exec makes another
  std::uint32_t refused = 0;  // files that could not be understood
};

// Reads what programs have left, and removes it if they have ended. Those that run are read as they
// are: the same may be taken again later, and will be at least as much.
Result<Arenas> TakeArenas(const std::filesystem::path& directory);

}  // namespace fieldcost::trace
