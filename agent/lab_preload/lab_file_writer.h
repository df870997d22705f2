#pragma once

#include <stdint.h>

namespace fieldcost::lab_preload {

// Creates this process's lab file and maps it: sets process.header and .file. If any step fails,
// returns false, and no file remains.
bool CreateLabFile();

}  // namespace fieldcost::lab_preload
