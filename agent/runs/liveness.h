#pragma once

namespace fieldcost::runs {

// Whether the writer of a run file is still running, that is, holds its lock on the file. The lock
// belongs to the open file that the program's mapping keeps alive (the descriptor itself is
// closed). It ends with the mapping: when the process ends for any reason, and at exec; a forked
// child does not inherit it. `fd` is any other open descriptor of the file. Returns true if the
// kernel cannot determine it, so that an unfinished file is never treated as final.
bool IsBeingWritten(int fd);

}  // namespace fieldcost::runs
