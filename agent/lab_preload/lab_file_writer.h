#pragma once

#include <stdint.h>

namespace fieldcost::lab_preload {

// Makes this process's lab file, and maps it: fills process.header and .file. False, and nothing
// left behind, if any step fails.
bool CreateLabFile();

}  // namespace fieldcost::lab_preload
