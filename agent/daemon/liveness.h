#pragma once

#include <cstdint>

namespace fieldcost::daemon {

// Whether the process that writes a run file still runs: it is there with the same start time, or
// it still holds its lock on the file. Either is enough: a host program may close the descriptor
// and so lose the lock, and a process of another pid namespace cannot be seen. A zombie does not
// run. `fd` is any open descriptor of the file; -1 asks for the process only.
bool IsProcessAlive(std::uint32_t untrusted_pid, std::uint64_t untrusted_start_ticks, int fd);

// Field 22 of /proc/PID/stat; 0 if there is no such process.
std::uint64_t ProcessStartTicks(std::uint32_t pid);

}  // namespace fieldcost::daemon
