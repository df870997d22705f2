#pragma once

#include <chrono>
#include <string>

#include "common/base/clock.h"

namespace fieldcost {

// Times as text, in UTC regardless of the process's time zone. Pure functions.

// "2026-11-22 10:00 UTC", for people.
std::string MinuteText(std::chrono::sys_seconds time);

// "2026-11-22T10:00:30Z" (RFC 3339), for programs; fractions of a second are dropped.
std::string Rfc3339Text(WallTime time);

}  // namespace fieldcost
