#include "aggregator/probes/pages/numbers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <string_view>

namespace fieldcost::probe_server {
namespace {

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;
constexpr std::uint64_t kNsOfMillisecond = 1'000'000;

std::string ThreeDigits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string DurationText(double ns) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"h", 3.6e12}, {"min", 6e10}, {"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};
  for (const Unit& unit : kUnits) {
    // What rounds to the unit is told in it.
    if (ns >= unit.ns * 0.9995) return fmt::format("{} {}", ThreeDigits(ns / unit.ns), unit.name);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string TimeText(std::uint64_t unix_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC",
                     fmt::gmtime(static_cast<std::time_t>(unix_ns / kNsOfSecond)),
                     unix_ns % kNsOfSecond / kNsOfMillisecond);
}

std::string DayText(std::uint64_t unix_ns) { return TimeText(unix_ns).substr(0, 10); }

std::string RatioText(double ratio) { return "×\u00a0" + ThreeDigits(ratio); }

std::string ProbabilityText(char letter, double probability) {
  if (probability < 0.001) return fmt::format("{} < 0.001", letter);
  return fmt::format("{} = {:.3f}", letter, probability);
}

}  // namespace fieldcost::probe_server
