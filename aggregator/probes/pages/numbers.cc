#include "aggregator/probes/pages/numbers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

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
