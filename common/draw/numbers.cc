#include "common/draw/numbers.h"
#include "common/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>

namespace fieldcost::draw {
namespace {

constexpr double kHourNs = 3600e9;

struct ScaledUnit {
  double size;  // in the metric's own unit
  const char* name;
  const char* ascii_name;
};

constexpr std::array<ScaledUnit, 5> kTimeUnits = {
    {{1, "ns", "ns"}, {1e3, "µs", "us"}, {1e6, "ms", "ms"}, {1e9, "s", "s"}, {60e9, "min", "min"}}};
constexpr std::array<ScaledUnit, 6> kByteUnits = {{{1, "B", "B"},
                                                   {1024, "KiB", "KiB"},
                                                   {1048576, "MiB", "MiB"},
                                                   {1073741824, "GiB", "GiB"},
                                                   {1099511627776.0, "TiB", "TiB"},
                                                   {1125899906842624.0, "PiB", "PiB"}}};
constexpr std::array<ScaledUnit, 4> kCycleUnits = {
    {{1, "cyc", "cyc"}, {1e3, "kcyc", "kcyc"}, {1e6, "Mcyc", "Mcyc"}, {1e9, "Gcyc", "Gcyc"}}};

constexpr std::array<ScaledUnit, 4> kCallUnits = {{{1, "calls", "calls"},
                                                   {1e3, "k calls", "k calls"},
                                                   {1e6, "M calls", "M calls"},
                                                   {1e9, "G calls", "G calls"}}};

std::span<const ScaledUnit> UnitsOf(stats::Metric metric) {
  const std::string_view unit = stats::Unit(metric);
  if (unit == "ns") return kTimeUnits;
  if (unit == "cycles") return kCycleUnits;
  if (unit == "calls") return kCallUnits;
  return kByteUnits;
}

constexpr double kMantissaOfPowers = 0.5;   // of frexp()
constexpr double kLeastScaledPower = 1024;  // 1.0 k calls, 1.0 us
constexpr unsigned kLeastDigits = 2;
constexpr unsigned kMostDigits = 6;

bool IsPowerOfTwo(double value) {
  int exponent = 0;
  return value >= 1 && std::frexp(value, &exponent) == kMantissaOfPowers;
}

double RoundToDigits(double value, unsigned digits) {
  const double step = std::pow(10, std::floor(std::log10(value)) - (digits - 1.0));
  return std::round(value / step) * step;
}

// The number of decimals of a number that is shown with this many significant digits.
int DecimalsOf(double rounded, unsigned digits) {
  const double whole_digits = std::floor(std::log10(rounded) + 1e-9) + 1;
  return std::max(0, static_cast<int>(digits) - static_cast<int>(whole_digits));
}

std::string Scaled(double value, std::span<const ScaledUnit> units, const Style& style,
                   unsigned digits = kLeastDigits) {
  if (!(value >= 0) || std::isinf(value)) return "-";
  std::size_t chosen = 0;
  double scaled = value == 0 ? 0 : RoundToDigits(value, digits);
  // The largest unit in which the value is at least one after rounding.
  for (std::size_t i = 1; i < units.size(); ++i) {
    if (value < units[i].size * 0.9) break;
    const double candidate = RoundToDigits(value / units[i].size, digits);
    if (candidate < 1) break;
    chosen = i;
    scaled = candidate;
  }
  const char* name = style.utf8 ? units[chosen].name : units[chosen].ascii_name;
  const bool whole = chosen == 0 && scaled == std::floor(scaled);
  if (whole) return fmt::format("{:.0f} {}", scaled, name);
  if (digits > kLeastDigits) {
    return fmt::format("{:.{}f} {}", scaled, DecimalsOf(scaled, digits), name);
  }
  if (scaled >= 9.95) return fmt::format("{:.0f} {}", scaled, name);
  if (scaled >= 1) return fmt::format("{:.1f} {}", scaled, name);
  return fmt::format("{:.2g} {}", scaled, name);
}

// Far above any machine; larger values are not shown.
constexpr std::uint32_t kMostLog2 = 40;

// "GenuineIntel-6" is nearly every Intel processor; other families distinguish generations.
std::string ProcessorText(std::string_view family) {
  const std::size_t dash = family.rfind('-');
  if (dash == std::string_view::npos) return std::string(family);
  std::string_view maker = family.substr(0, dash);
  const std::string_view number = family.substr(dash + 1);
  if (maker == "GenuineIntel" && number == "6") return "Intel";
  if (maker == "GenuineIntel") maker = "Intel";
  if (maker == "AuthenticAMD") maker = "AMD";
  return fmt::format("{} family {}", maker, number);
}

// "debian-12" as "Debian 12".
std::string SystemText(std::string_view release) {
  std::string text(release);
  if (const std::size_t dash = text.rfind('-'); dash != std::string::npos) text[dash] = ' ';
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
  return text;
}

}  // namespace

bool IsUnderLeastTime(double value, stats::Metric metric) {
  return stats::Unit(metric) == "ns" && value >= 0 && value < double{kLeastTimeNs};
}

std::string FormatCost(double value, stats::Metric metric, const Style& style) {
  if (IsUnderLeastTime(value, metric)) return fmt::format("under {} ns", kLeastTimeNs);
  return Scaled(value, UnitsOf(metric), style);
}

std::string FormatSpread(double value, stats::Metric metric, const Style& style, unsigned digits) {
  return Scaled(value, UnitsOf(metric), style, digits);
}

unsigned DigitsToTell(double one, double other) {
  const double difference = std::abs(one - other);
  const double greater = std::max(std::abs(one), std::abs(other));
  if (!(difference > 0) || std::isinf(greater)) return kLeastDigits;
  // The last digit stands for at most a tenth of the difference.
  const double digits = std::floor(std::log10(greater)) - std::floor(std::log10(difference)) + 2;
  return static_cast<unsigned>(std::clamp(digits, double{kLeastDigits}, double{kMostDigits}));
}

std::string FormatBound(double value, stats::Metric metric, const Style& style) {
  const double bound = value > 1 && IsPowerOfTwo(value + 1) ? value + 1 : value;
  if (!IsPowerOfTwo(bound) || IsUnderLeastTime(value, metric)) {
    return FormatCost(value, metric, style);
  }
  const bool in_full = UnitsOf(metric).data() == kByteUnits.data() || bound < kLeastScaledPower;
  return in_full ? FormatTick(bound, metric, style) : FormatCost(bound, metric, style);
}

std::string FormatInterval(double low, double high, std::string_view between, stats::Metric metric,
                           const Style& style) {
  const std::string to = FormatBound(high, metric, style);
  if (IsUnderLeastTime(high, metric)) return to;
  return fmt::format("{}{}{}", FormatBound(low, metric, style), between, to);
}

std::string FormatTick(double value, stats::Metric metric, const Style& style) {
  const std::span<const ScaledUnit> units = UnitsOf(metric);
  const ScaledUnit* chosen = units.data();
  for (const ScaledUnit& unit : units) {
    if (unit.size <= value) chosen = &unit;
  }
  return fmt::format("{:g} {}", value / chosen->size,
                     style.utf8 ? chosen->name : chosen->ascii_name);
}

std::string TotalText(double total_ns, const Style& style) {
  if (!(total_ns >= kHourNs)) return Scaled(total_ns, kTimeUnits, style);
  const double hours = total_ns / kHourNs;
  return hours < 9.95 ? fmt::format("{:.1f} h", hours) : fmt::format("{:.0f} h", hours);
}

std::string_view RunsText(const stats::FieldCost& total) {
  return total.of_all_runs ? "all runs" : "measured runs";
}

std::string FormatCost(const std::optional<double>& value, stats::Metric metric,
                       const Style& style) {
  return value ? FormatCost(*value, metric, style) : "-";
}

std::string_view AtLeast(const Style& style) { return style.utf8 ? "≥" : ">="; }

std::string TotalText(const std::optional<stats::FieldCost>& total, const Style& style) {
  if (!total) return "-";
  const std::string text = TotalText(total->ns, style);
  if (total->of_all_runs) return text;
  return fmt::format("{} {}", AtLeast(style), text);
}

std::string FormatCount(const std::optional<std::uint64_t>& count) {
  return count ? FormatCount(*count) : "-";
}

std::string Counted(const std::optional<std::uint64_t>& count, std::string_view one,
                    std::string_view many) {
  if (count) return Counted(*count, one, many);
  return fmt::format("- {}{}", many.empty() ? one : many, many.empty() ? "s" : "");
}

std::string ShareText(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string ShareText(stats::Uint128 part, stats::Uint128 whole) {
  return ShareText(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string RoughShareText(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.095) return "<0.1 %";
  return percent >= 9.95 || percent == 0 ? fmt::format("{:.0f} %", percent)
                                         : fmt::format("{:.2g} %", percent);
}

std::string Decimal(stats::Uint128 value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string HardwareText(const stats::HardwareClass& untrusted_hardware) {
  const stats::HardwareClass& hardware = untrusted_hardware;
  if (hardware == stats::HardwareClass{}) return "all classes";
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (hardware.architecture != "x86_64") add(hardware.architecture);
  add(ProcessorText(hardware.cpu_family));
  if (hardware.log2_cores < kMostLog2) {
    const std::uint64_t cores = std::uint64_t{1} << hardware.log2_cores;
    add(Counted(cores, "core"));
  }
  if (hardware.log2_memory_mib < kMostLog2) {
    add(FormatTick(std::ldexp(1024.0 * 1024.0, static_cast<int>(hardware.log2_memory_mib)),
                   stats::Metric::kAllocInclusive, {.utf8 = true}));
  }
  add(SystemText(hardware.os_release));
  return text;
}

std::string DurationText(double ns, const Style& style) {
  struct Unit {
    double ns;
    const char* name;
  };
  const Unit units[] = {
      {kHourNs, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, style.utf8 ? "µs" : "us"}};
  for (const Unit& unit : units) {
    const double value = ns / unit.ns;
    if (value < 0.99995) continue;  // values that round to 1 use this unit
    const int digits = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, digits, unit.name);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string FormatTime(WallTime time) {
  if (time == WallTime{}) return "never";
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::minutes>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", int{date.year()}, unsigned{date.month()},
                     unsigned{date.day()}, clock.hours().count(), clock.minutes().count());
}

std::string FormatAge(WallTime time, WallTime now) {
  if (time == WallTime{}) return "never";
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - time).count();
  const auto ago = [](std::int64_t number, std::string_view unit) {
    return Counted(static_cast<std::uint64_t>(number), unit) + " ago";
  };
  if (minutes < 1) return "just now";
  if (minutes < 60) return ago(minutes, "minute");
  if (minutes < 48 * 60) return ago(minutes / 60, "hour");
  return ago(minutes / (24 * 60), "day");
}

}  // namespace fieldcost::draw
