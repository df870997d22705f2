#pragma once

#include <cstdint>
#include <string>

namespace fieldcost::probe_server {

// Human-readable times and numbers. Pure.

// Same as draw::DurationText().
std::string DurationText(double ns);
inline std::string DurationText(std::uint64_t ns) { return DurationText(static_cast<double>(ns)); }
// The distance between round values on a scale from 0 to `most` ns, with at most 5 of them above 0.
// REQUIRES: most >= 1.
double TickStep(double most);
// A multiple of the tick step: "150 ms", "0".
std::string TickText(double ns);
// "2026-11-23 19:20:11.042 UTC"
std::string TimeText(std::uint64_t unix_ns);
// "2026-11-23"
std::string DayText(std::uint64_t unix_ns);
// "× 1.23", without a line break
std::string RatioText(double ratio);
// "+10 %", "-4.2 %", "±0 %"
std::string ChangeText(double ratio);
// "p = 0.012", "p < 0.001"
std::string ProbabilityText(char letter, double probability);

}  // namespace fieldcost::probe_server
