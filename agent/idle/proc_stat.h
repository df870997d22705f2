#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Idle and iowait of each CPU that is online, in ns, by its number.
using StatIdle = std::map<std::uint32_t, std::uint64_t>;

// The unit of /proc/stat: 1/100 s (USER_HZ, the same on all x86-64).
inline constexpr std::uint64_t kStatUnitNs = 1'000'000'000 / 100;

// Reads the text of /proc/stat; lines that are of no CPU are left out.
StatIdle ParseStatIdle(const std::string& untrusted_text);
// What it says now.
Result<StatIdle> ReadStatIdle();

}  // namespace fieldcost::idle_agent
