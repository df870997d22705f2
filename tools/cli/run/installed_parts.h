#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost::cli {

// Finds the measuring library of this program: the one named by FIELDCOST_PRELOAD_LIBRARY, else the
// one next to this program, else the installed one. The path is absolute. kNotFound lists the
// places; kInvalidArgument if LD_PRELOAD cannot express the path.
Result<std::filesystem::path> FindPreloadLibrary();

// The same for the library of `fieldcost measure` (FIELDCOST_LAB_LIBRARY).
Result<std::filesystem::path> FindLabLibrary();

// The same for the library of `fieldcost trace --events` (FIELDCOST_TRACE_LIBRARY).
Result<std::filesystem::path> FindTraceLibrary();

// The same for the library of `fieldcost probe run` (FIELDCOST_PROBE_LIBRARY).
Result<std::filesystem::path> FindProbeLibrary();

// The program that `fieldcost trace` executes (FIELDCOST_TRACE_PROGRAM). kNotFound as above.
Result<std::filesystem::path> FindTraceProgram();
// The program that `fieldcost idle` executes (FIELDCOST_IDLE_PROGRAM).
Result<std::filesystem::path> FindIdleProgram();
// The program that `fieldcost probe run` and `flush` execute (FIELDCOST_PROBE_PROGRAM).
Result<std::filesystem::path> FindProbeProgram();

}  // namespace fieldcost::cli
