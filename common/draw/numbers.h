#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/draw/terminal.h"
#include "common/stats/api_key.h"
#include "common/stats/field_total.h"
#include "common/stats/uint128.h"

namespace fieldcost::draw {

// Times below this are one class, "under 16 ns", because single calls cannot be distinguished
// there. (Counters step by 10 ns on some machines; calibration leaves up to 3 ns.) A bucket's
// bound.
inline constexpr std::uint64_t kLeastTimeNs = 16;
bool IsUnderLeastTime(double value, stats::Metric metric);

// A cost with two significant digits and a suitable unit: "950 ns", "1.2 µs", "3.4 KiB". More
// digits would suggest a precision that log2 buckets do not have. "-" if negative or not a number.
std::string FormatCost(double value, stats::Metric metric, const Style& style);
// Here and below: "-" for nullopt.
std::string FormatCost(const std::optional<double>& value, stats::Metric metric,
                       const Style& style);
// The same for a difference of costs, which has no such class, with this many significant digits.
std::string FormatSpread(double value, stats::Metric metric, const Style& style,
                         unsigned digits = 2);
// The number of significant digits, 2 to 6, that two costs side by side need to show their
// difference: "104.2 ms" next to "101.9 ms". 2 if they are equal.
unsigned DigitsToTell(double one, double other);
// A bucket's bound, a power of two or one less: in full below 1,024 of the metric's own unit, and
// always for bytes: "128 B", "512 ns", "1 KiB". Other values as FormatCost().
std::string FormatBound(double value, stats::Metric metric, const Style& style);
// "16 ns BETWEEN 32 ns", both formatted as bounds, or "under 16 ns" if both ends are.
std::string FormatInterval(double low, double high, std::string_view between, stats::Metric metric,
                           const Style& style);

// A round cost at a scale's tick, without superfluous digits: "1 ms", "1 KiB".
std::string FormatTick(double value, stats::Metric metric, const Style& style);

// The total time of many calls, as above but exact below kLeastTimeNs, or in hours: "1.2 h".
std::string TotalText(double total_ns, const Style& style);
// The prefix of a number that is a lower bound.
std::string_view AtLeast(const Style& style);
// ">= 1.2 h" if it covers only measured runs.
std::string TotalText(const std::optional<stats::FieldCost>& total, const Style& style);

// The runs that a total covers: "all runs" or "measured runs".
std::string_view RunsText(const stats::FieldCost& total);

using fieldcost::FormatCount;
std::string FormatCount(const std::optional<std::uint64_t>& count);
using fieldcost::Counted;
std::string Counted(const std::optional<std::uint64_t>& count, std::string_view one,
                    std::string_view many = {});

// A share of a whole with one decimal: "12.3 %"; "0.0 %" if the whole is zero.
std::string ShareText(double share);
std::string ShareText(stats::Uint128 part, stats::Uint128 whole);
// The same with two significant digits, for estimates: "0.12 %", "12 %"; "<0.1 %" below that.
std::string RoughShareText(double share);

// Exact decimal digits.
std::string Decimal(stats::Uint128 value);

// A machine's class in plain words: "Intel, 2 cores, 16 GiB, Debian 12". Includes the family if it
// is more specific than the vendor ("AMD family 25"), and the architecture unless it is x86_64;
// omits unknown parts. "all classes" for none. Not escaped.
std::string HardwareText(const stats::HardwareClass& untrusted_hardware);

// A time measured once: four digits and a suitable unit, "950 ns", "1.234 ms", "2.500 h".
std::string DurationText(double ns, const Style& style);

// "2026-11-21 03:10 UTC"; "never" for the epoch itself.
std::string FormatTime(WallTime time);

// "just now", "5 minutes ago", "3 days ago".
std::string FormatAge(WallTime time, WallTime now);

}  // namespace fieldcost::draw
