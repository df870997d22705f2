#pragma once

#include <string>

#include "common/base/read_at.h"

namespace fieldcost {

// Returns the build-id of an ELF file (the GNU note written by the linker) in lower-case hex,
// truncated to the 32 bytes that a run file holds; empty if there is none or this is not a 64-bit
// ELF file. Reads headers and notes only. Pure.
std::string BuildIdIn(const ReadAt& read);

}  // namespace fieldcost
