#include "aggregator/probe_server/pages/page_numbers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "common/draw/numbers.h"

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

std::string DurationText(double ns) { return draw::DurationText(ns, {.utf8 = true}); }

double TickStep(double most) {
  // Beyond a minute, powers of ten are not round numbers of minutes or hours.
  constexpr double kMinute = 60e9;
  const double unit = most <= kMinute ? 1 : most <= 60 * kMinute ? kMinute / 2 : 30 * kMinute;
  double step = unit;
  while (step * 5 < most) {
    for (const double factor : {2.0, 2.5, 2.0}) {
      if (step * 5 < most) step *= factor;
    }
  }
  return step;
}

std::string TickText(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"},
                             {1e6, "ms"},   {1e3, "µs"},   {1, "ns"}};
  for (const Unit& unit : kUnits) {
    if (ns >= unit.ns) return fmt::format("{:.4g} {}", ns / unit.ns, unit.name);
  }
  return "0";
}

std::string TimeText(std::uint64_t unix_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC",
                     fmt::gmtime(static_cast<std::time_t>(unix_ns / kNsOfSecond)),
                     unix_ns % kNsOfSecond / kNsOfMillisecond);
}

std::string DayText(std::uint64_t unix_ns) { return TimeText(unix_ns).substr(0, 10); }

std::string RatioText(double ratio) { return "×\u00a0" + ThreeDigits(ratio); }

std::string ChangeText(double ratio) {
  const double percent = (ratio - 1) * 100;
  if (std::abs(percent) < 0.05) return "±0 %";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string ProbabilityText(char letter, double probability) {
  if (probability < 0.001) return fmt::format("{} < 0.001", letter);
  return fmt::format("{} = {:.3f}", letter, probability);
}

}  // namespace fieldcost::probe_server
