#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// Parses times and durations as users write them. Pure.

// "90s", "10m", "2h", "3d", "1w": a number of at most 6 digits and a unit.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text);

// Parses a duration before `now` ("10m", "2h", "3d") or a time in UTC: "2026-11-20",
// "2026-11-20T10:30", with optional seconds and "Z", or a blank instead of "T". kInvalidArgument
// lists the forms.
Result<WallTime> ParsePastTime(std::string_view text, WallTime now);

}  // namespace fieldcost::cli
