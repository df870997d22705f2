#pragma once

#include <stdint.h>

namespace fieldcost::lab_preload {

// Creates this process's lab file and maps it: sets process.header and .file. Returns false, and
// leaves no file, if any step fails.
bool CreateLabFile();

}  // namespace fieldcost::lab_preload
