#pragma once

#include <cstdint>
#include <string>

namespace fieldcost::probe_server {

// Times for people. Pure.

// As draw::DurationText().
std::string DurationText(double ns);
inline std::string DurationText(std::uint64_t ns) { return DurationText(static_cast<double>(ns)); }
// "2026-11-23 19:20:11.042 UTC"
std::string TimeText(std::uint64_t unix_ns);
// "2026-11-23"
std::string DayText(std::uint64_t unix_ns);
// "× 1.23", in one piece
std::string RatioText(double ratio);
// "p = 0.012", "p < 0.001"
std::string ProbabilityText(char letter, double probability);

}  // namespace fieldcost::probe_server
