#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/sampler/stack_paths.h"
#include "common/base/result.h"

namespace fieldcost::sampler {

// Writes the recording anew, in its place, with the names that symbol tables, debug files and perf
// maps have for its frames; what has none stays as it is. `places` [frame id] are those of its
// writer. On an error the recording is left as it was. Inline functions are told as the function
// that they were put into, since what is inlined differs from build to build; of a block its source
// line. Metrics `without` are left out.
Status NameFrames(const std::filesystem::path& file, const std::vector<Place>& places,
                  const std::vector<std::string>& without = {});

}  // namespace fieldcost::sampler
