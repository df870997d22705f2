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

// Times below are one class, "under 16 ns": single calls are not told apart there. (Counters step
// by 10 ns on some machines; what calibration leaves is up to 3 ns.) A bucket's bound.
inline constexpr std::uint64_t kLeastTimeNs = 16;
bool IsUnderLeastTime(double value, stats::Metric metric);

// A cost for people: two significant digits and a unit that fits: "950 ns", "1.2 µs", "3.4 KiB".
// More digits would pretend a precision that log2 buckets do not have. Negative or not a number:
// "-".
std::string FormatCost(double value, stats::Metric metric, const Style& style);
// Here and below: "-" without a value.
std::string FormatCost(const std::optional<double>& value, stats::Metric metric,
                       const Style& style);
// The same of what costs differ by, which has no such class, with so many significant digits.
std::string FormatSpread(double value, stats::Metric metric, const Style& style,
                         unsigned digits = 2);
// How many significant digits, 2 to 6, two costs side by side need so that the digits show their
// difference: "104.2 ms" beside "101.9 ms". 2 for equal ones.
unsigned DigitsToTell(double one, double other);
// A bound of buckets, a power of two or 1 less: in full below 1,024 of the metric's own unit, bytes
// always: "128 B", "512 ns", "1 KiB". Others as FormatCost().
std::string FormatBound(double value, stats::Metric metric, const Style& style);
// "16 ns BETWEEN 32 ns", both as bounds, or "under 16 ns" if both ends are.
std::string FormatInterval(double low, double high, std::string_view between, stats::Metric metric,
                           const Style& style);

// A round cost beside a scale's tick, without a digit too many: "1 ms", "1 KiB".
std::string FormatTick(double value, stats::Metric metric, const Style& style);

// A time of many calls together, as above but exact below kLeastTimeNs, or in hours: "1.2 h".
std::string TotalText(double total_ns, const Style& style);
// What stands before a number that is a lower bound.
std::string_view AtLeast(const Style& style);
// ">= 1.2 h" if it is of measured runs only.
std::string TotalText(const std::optional<stats::FieldCost>& total, const Style& style);

// The runs of which a total is, for machines: "all runs" or "measured runs".
std::string_view RunsText(const stats::FieldCost& total);

using fieldcost::FormatCount;
std::string FormatCount(const std::optional<std::uint64_t>& count);
using fieldcost::Counted;
std::string Counted(const std::optional<std::uint64_t>& count, std::string_view one,
                    std::string_view many = {});

// A part of a whole with one decimal: "12.3 %"; "0.0 %" of nothing.
std::string ShareText(double share);
std::string ShareText(stats::Uint128 part, stats::Uint128 whole);
// The same in two significant digits, for what is estimated: "0.12 %", "12 %"; "<0.1 %" below.
std::string RoughShareText(double share);

// Exact decimal digits.
std::string Decimal(stats::Uint128 value);

// A machine's class as people say it: "Intel, 2 cores, 16 GiB, Debian 12"; the family where it says
// more than the maker ("AMD family 25"), the architecture where it is not x86_64, nothing for what
// is not known; "all classes" for none. Not escaped.
std::string HardwareText(const stats::HardwareClass& untrusted_hardware);

// A time that was measured once: four digits and a unit that fits, "950 ns", "1.234 ms", "2.500 h".
std::string DurationText(double ns, const Style& style);

// "2026-11-21 03:10 UTC"; "never" for the epoch itself.
std::string FormatTime(WallTime time);

// "just now", "5 minutes ago", "3 days ago".
std::string FormatAge(WallTime time, WallTime now);

}  // namespace fieldcost::draw
