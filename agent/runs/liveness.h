#pragma once

namespace fieldcost::agent {

// Whether the program that writes a run file still runs, that is, holds its lock on it. The lock
// belongs to the open file that the program's mapping keeps (the descriptor itself is closed), so
// it ends with the mapping: at the end of the process whatever ends it, and at exec; a forked child
// does not inherit it. `fd` is any other open descriptor of the file. If the kernel cannot tell,
// the answer is yes, so that nothing is taken for final that is not.
bool IsBeingWritten(int fd);

}  // namespace fieldcost::agent
