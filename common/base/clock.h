#pragma once

#include <chrono>
#include <cstdint>

namespace fieldcost {

// Wall-clock time, UTC, microsecond steps: what is stored and sent.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// The OS edge for time, so that tests can supply their own. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
};

// The machine's clock. Never destroyed.
const Clock& SystemClock();

// The week a row belongs to: whole weeks since 1970-01-01 (a Thursday), UTC. Coarse on purpose: it
// is the only time that leaves the machine.
std::uint32_t WeekOf(WallTime time);

}  // namespace fieldcost
