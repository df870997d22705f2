#pragma once

#include <stdint.h>

#include "agent/preload/policy.h"

namespace fieldcost::preload {

// Everything that is mapped and written lies in the policy's memory directory. It is looked at
// before each use, whatever the policy says: its root must be this user's alone and no link, and
// what is opened must be on a file system that cannot fault.

// Opens a file or directory of that name in it, as open(2) does with `flags`, never through a link;
// what is made is this user's alone. With O_CREAT or O_DIRECTORY, directories that are missing are
// made. The descriptor, or a negative number.
int64_t OpenInMemory(const Request& request, const char* name, int flags);

}  // namespace fieldcost::preload
