#include "tools/cli/batch_row_text.h"

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::cli {
namespace {

using stats::Metric;

std::string Sum(const wire::BatchRow& row, const draw::Style& style) {
  const auto sum = static_cast<double>(row.histogram.sum());
  if (stats::Unit(row.metric) == "ns") return draw::DurationText(sum, style);
  return draw::FormatCost(sum, row.metric, style);
}

// "3 calls took 2.420 µs together", "1 call allocated 64 B of memory".
std::string Together(const wire::BatchRow& row, const draw::Style& style, const std::string& what,
                     std::string_view did, std::string_view of) {
  return fmt::format("{} {} {}{}{}", what, did, Sum(row, style), of,
                     row.histogram.count() == 1 ? "" : " together");
}

std::string PerRunText(const wire::BatchRow& row, const draw::Style& style) {
  const std::uint64_t runs = row.histogram.count();
  const auto sum = static_cast<double>(row.histogram.sum());
  return fmt::format(
      "{} of programs, measured or not, spent an estimated {} in it, {} each (a measured "
      "run counts for all runs among which it was drawn)",
      Counted(runs, "run"), draw::DurationText(sum, style),
      draw::DurationText(runs == 0 ? 0 : sum / static_cast<double>(runs), style));
}

std::string CallsText(const wire::BatchRow& row) {
  return fmt::format("{} of programs called it {}", Counted(row.histogram.count(), "run"),
                     Counted(static_cast<std::uint64_t>(row.histogram.sum()), "time", "times"));
}

std::string ValueText(const wire::BatchRow& row, const draw::Style& style) {
  const std::uint64_t count = row.histogram.count();
  const std::string calls = Counted(count, "call");
  switch (row.metric) {
    case Metric::kWallTime:
      return "on a machine with little else to do, " + Together(row, style, calls, "took", "");
    case Metric::kWallTimeBusy:
      return "on a busy machine, " + Together(row, style, calls, "took", "");
    case Metric::kCpuCycles:
      return Together(row, style, calls, "took", " of the processor's clock");
    case Metric::kAllocInclusive:
      return Together(row, style, calls, "allocated", " of memory");
    case Metric::kAllocExclusive:
      return "not counting the functions it called, " +
             Together(row, style, calls, "allocated", " of memory");
    case Metric::kAllocSize:
      return Together(row, style, Counted(count, "single allocation"), "took", " of memory");
    case Metric::kDiskRead:
      return Together(row, style, calls, "read", " from files");
    case Metric::kDiskWritten:
      return Together(row, style, calls, "wrote", " to files");
    case Metric::kNetReceived:
      return Together(row, style, calls, "received", " from the network");
    case Metric::kNetSent:
      return Together(row, style, calls, "sent", " to the network");
    case Metric::kCallsPerRun:
      return CallsText(row);
    case Metric::kFirstCallTime:
      return Together(row, style, Counted(count, "first call of a run", "first calls of runs"),
                      "took", "");
    case Metric::kTimePerRun:
      return PerRunText(row, style);
    case Metric::kNotMeasured:
      return fmt::format("in {}, some of its bytes could not be counted; the value is the reason",
                         Counted(count, "run"));
  }
  return "";
}

// "2026-11-19 to 2026-11-25"
std::string DaysText(std::uint32_t week) {
  const WallTime last{std::chrono::hours(24 * (7 * std::int64_t{week} + 6))};
  return fmt::format("{} to {}", FirstDayOf(week), draw::FormatTime(last).substr(0, 10));
}

}  // namespace

std::string RowSentence(const wire::BatchRow& row, const draw::Style& style) {
  const std::string version =
      row.api.package_version.empty()
          ? "of no package"
          : fmt::format("version {}", EscapeControl(row.api.package_version));
  return fmt::format("{} in {} ({}), {}: {}. {}.", EscapeControl(row.api.symbol),
                     EscapeControl(row.api.soname), version, DaysText(row.week),
                     ValueText(row, style),
                     row.first_contribution ? "You have not reported this cost before"
                                            : "It is added to what you have reported before");
}

}  // namespace fieldcost::cli
