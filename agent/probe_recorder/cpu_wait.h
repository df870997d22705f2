#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/probe/ring_reader.h"
#include "agent/probe_recorder/run_batch.h"

namespace fieldcost::probe {

// How long the program's first thread has waited for a CPU so far, of how long it has lived. Known
// while the process runs and, of a child, until it is waited for. nullopt: not known, for example
// because the kernel keeps no such count.
std::optional<RunBatch::CpuWait> CpuWaitOf(const RunFacts& facts, std::uint64_t now_unix_ns);

// Whether the process has ended and was not waited for.
bool IsEndedChild(std::uint32_t pid);

// The second number of /proc/PID/schedstat, ns.
std::optional<std::uint64_t> ParseWaitedNs(std::string_view untrusted_schedstat);
// Whether /proc/PID/stat is that of a process that has ended and was not waited for.
bool IsZombie(std::string_view untrusted_stat);

}  // namespace fieldcost::probe
