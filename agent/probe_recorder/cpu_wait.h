#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/probe_recorder/run_batch.h"

namespace fieldcost::probe {

// How long the program's first thread has waited for a CPU so far, of the time in which it ran or
// could have run: what it slept tells nothing about the machine. Known while the process runs and,
// of a child, until it is waited for. nullopt: unknown, for example because the kernel keeps no
// such count.
std::optional<RunBatch::CpuWait> CpuWaitOf(std::uint32_t pid);

// Whether the process has ended and was not waited for.
bool IsEndedChild(std::uint32_t pid);

// The first two numbers of /proc/PID/schedstat: ns that it ran, and that it waited.
std::optional<RunBatch::CpuWait> ParseCpuWait(std::string_view untrusted_schedstat);
// Whether /proc/PID/stat is that of a process that has ended and was not waited for.
bool IsZombie(std::string_view untrusted_stat);

}  // namespace fieldcost::probe
