#pragma once

namespace fieldcost::lab_preload {

// Whether calls of that function may move bytes from or to files and sockets although no wrapper
// sees them: libc's streams, name services and logs reach the kernel without a slot, and syscall()
// does what its arguments say. Whatever has such a call in it has unknown bytes, too.
bool HidesIo(const char* module, const char* symbol);

}  // namespace fieldcost::lab_preload
