#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Idle plus iowait of each online CPU, in ns, by its number.
using StatIdle = std::map<std::uint32_t, std::uint64_t>;

// The unit of /proc/stat: 1/100 s (USER_HZ, the same on all x86-64).
inline constexpr std::uint64_t kStatUnitNs = 1'000'000'000 / 100;

// Parses the text of /proc/stat; skips lines that do not belong to a CPU.
StatIdle ParseStatIdle(const std::string& untrusted_text);
// Reads its current values.
Result<StatIdle> ReadStatIdle();

}  // namespace fieldcost::idle_agent
