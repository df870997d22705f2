#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost::cli {

// The measuring library that belongs to this program: named by FIELDCOST_PRELOAD_LIBRARY, else next
// to this program, else where it is installed. Absolute. kNotFound with the place;
// kInvalidArgument if LD_PRELOAD cannot express the path.
Result<std::filesystem::path> FindPreloadLibrary();

// The same of the library of `fieldcost measure` (FIELDCOST_LAB_LIBRARY).
Result<std::filesystem::path> FindLabLibrary();

// The same of `fieldcost trace --events` (FIELDCOST_TRACE_LIBRARY).
Result<std::filesystem::path> FindTraceLibrary();

// The same of `fieldcost probe run` (FIELDCOST_PROBE_LIBRARY).
Result<std::filesystem::path> FindProbeLibrary();

// What `fieldcost trace` runs (FIELDCOST_TRACE_PROGRAM). kNotFound as above.
Result<std::filesystem::path> FindTraceProgram();
// What `fieldcost idle` runs (FIELDCOST_IDLE_PROGRAM).
Result<std::filesystem::path> FindIdleProgram();
// What `fieldcost probe run` and `flush` run (FIELDCOST_PROBE_PROGRAM).
Result<std::filesystem::path> FindProbeProgram();

}  // namespace fieldcost::cli
