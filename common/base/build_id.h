#pragma once

#include <string>

#include "common/base/read_at.h"

namespace fieldcost {

// The build-id of an ELF file (the GNU note that the linker writes) in lower-case hex, cut to the
// 32 bytes that a run file holds; empty if it has none or is no 64-bit ELF file. Reads headers and
// notes only. Pure.
std::string BuildIdIn(const ReadAt& read);

}  // namespace fieldcost
