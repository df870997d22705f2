#pragma once

#include <stdint.h>

#include "agent/preload/preload_policy.h"

namespace fieldcost::preload {

// All files that are mapped and written are in the policy's memory directory. It is checked before
// each use, regardless of the policy: its root must belong to this user, be closed to others and be
// no link, and the files opened must be on a file system that cannot fault.

// Opens a file or directory of that name in it, as open(2) does with `flags`, never through a link;
// new files are accessible only to this user. With O_CREAT or O_DIRECTORY, creates missing
// directories. Returns the descriptor, or a negative number.
int64_t OpenInMemory(const RunRequest& request, const char* name, int flags);

}  // namespace fieldcost::preload
