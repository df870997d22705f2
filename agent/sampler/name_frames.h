#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/sampler/stack_paths.h"
#include "common/base/result.h"

namespace fieldcost::sampler {

// What naming has found out about the samples of CPU time.
struct NamedSamples {
  std::uint64_t samples = 0;
  std::uint64_t whole = 0;  // taken as cut, but their outermost function is known to have no caller
  std::uint64_t generated = 0;      // in code made at run time that has no name
  bool has_unnamed_python = false;  // an interpreter's frames, and none of the functions it runs
};

// Writes the recording anew, in its place, with the names that symbol tables, debug files and perf
// maps have for its frames. Other code keeps its address, except code made at run time, where
// addresses mean nothing: it is one frame, [generated], however many of its functions follow each
// other. `places` [frame id] are those of its writer. On an error the recording is left as it was.
// An inlined function is counted as the function it was put into, since what is inlined differs
// from build to build; a block by its source line. Where the outermost function is one on which a
// stack of Go begins, [cut] is removed. Metrics `without` are left out.
Result<NamedSamples> NameFrames(const std::filesystem::path& file, const std::vector<Place>& places,
                                const std::vector<std::string>& without = {});

// For the first line of a recorder's main(): names are read in helper processes from then on (see
// common/symbols/name_helper.h). A value is the exit status of this process, which was a helper.
std::optional<int> UseNameHelpers(int argc, char** argv);

}  // namespace fieldcost::sampler
