#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fieldcost {

// Wall-clock time, UTC, in microseconds, as stored and sent.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// The current time as an interface, so that tests can supply their own. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
};

// The machine's clock. Never destroyed.
const Clock& SystemClock();

// A wall time as stored in databases: microseconds since 1970-01-01, UTC; 0 for earlier times.
std::uint64_t MicrosOf(WallTime time);
// The inverse of MicrosOf(), for values up to 2^63 - 1.
WallTime TimeOfMicros(std::uint64_t micros);

// Nanoseconds of one of the clocks of clock_gettime(2).
std::uint64_t ClockNs(clockid_t clock);
// The same for CLOCK_MONOTONIC, the clock of recordings.
inline std::uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

// The week that a row belongs to: whole weeks since 1970-01-01 (a Thursday), UTC. Coarse on
// purpose: it is the only time that leaves the machine.
std::uint32_t WeekOf(WallTime time);
// The week of a day, "2026-11-19"; nullopt if it is not a valid date or before 1970.
std::optional<std::uint32_t> WeekOfDay(std::string_view untrusted_day);
// "2026-11-19"
std::string FirstDayOf(std::uint32_t week);

}  // namespace fieldcost
