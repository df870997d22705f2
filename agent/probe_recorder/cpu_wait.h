#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/probe_recorder/run_batch.h"

namespace fieldcost::probe {

// Returns how long the program's first thread has waited for a CPU so far, and how long it ran or
// was runnable. Time asleep is excluded, since it is unrelated to the machine's load. Available
// while the process runs and, for a child, until it is reaped. nullopt: unknown, for example
// because the kernel does not count it.
std::optional<RunBatch::CpuWait> CpuWaitOf(std::uint32_t pid);

// Whether the process has ended and has not been reaped.
bool IsEndedChild(std::uint32_t pid);

// Parses the first two numbers of /proc/PID/schedstat: ns run and ns waited.
std::optional<RunBatch::CpuWait> ParseCpuWait(std::string_view untrusted_schedstat);
// Whether the text of /proc/PID/stat belongs to a process that has ended and has not been reaped.
bool IsZombie(std::string_view untrusted_stat);

}  // namespace fieldcost::probe
