#pragma once

namespace fieldcost::agent {

// Whether the writer of a run file is still running, that is, holds its lock on the file. The lock
// belongs to the open file that the program's mapping keeps (the descriptor itself is closed), so
// it ends with the mapping: at the end of the process for any reason, and at exec; a forked child
// does not inherit it. `fd` is any other open descriptor of the file. Returns true if
// the kernel cannot tell, so that no unfinished file is treated as final.
bool IsBeingWritten(int fd);

}  // namespace fieldcost::agent
