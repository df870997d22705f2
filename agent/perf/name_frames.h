#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/perf/stack_paths.h"
#include "common/base/result.h"

namespace fieldcost::perf {

// Results of naming, for the samples of CPU time.
struct NamedSamples {
  std::uint64_t samples = 0;
  std::uint64_t whole = 0;          // counted as cut, but their outermost function has no caller
  std::uint64_t generated = 0;      // in code generated at run time that has no name
  bool has_unnamed_python = false;  // frames of an interpreter, but none of Python functions
};

// Rewrites the recording in place, with the names of its frames from symbol tables, debug files and
// perf maps. Code without a name keeps its address, except code generated at run time, whose
// addresses are meaningless: any number of consecutive such frames becomes one frame, [generated].
// `places` [frame id] are those of its writer. On an error the recording is unchanged. An inlined
// function is counted as the function into which it was inlined, since inlining varies between
// builds; a block is named by its source line. Where the outermost function is one that begins a Go
// stack, [cut] is removed. Metrics in `without` are omitted.
Result<NamedSamples> NameFrames(const std::filesystem::path& file, const std::vector<Place>& places,
                                const std::vector<std::string>& without = {});

// Must be called first in a recorder's main(): names are read in helper processes from then on (see
// agent/symbols/name_helper.h). If it returns a value, this process was a helper, and the value is
// its exit status.
std::optional<int> UseNameHelpers(int argc, char** argv);

}  // namespace fieldcost::perf
