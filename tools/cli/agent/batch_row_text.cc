#include "tools/cli/agent/batch_row_text.h"

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/stats/metric_traits.h"

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
  // A kept batch may come from a newer version.
  if (!stats::IsKnownMetric(static_cast<std::uint32_t>(row.metric))) return "";
  const std::uint64_t count = row.histogram.count();
  if (row.metric == Metric::kCallsPerRun) return CallsText(row);
  if (row.metric == Metric::kTimePerRun) return PerRunText(row, style);
  const stats::MetricTraits& traits = stats::TraitsOf(row.metric);
  std::string values;
  switch (traits.value_of) {
    case stats::ValueOf::kCall:
      values = Counted(count, "call");
      break;
    case stats::ValueOf::kAllocation:
      values = Counted(count, "single allocation");
      break;
    case stats::ValueOf::kRun:
      values = Counted(count, "first call of a run", "first calls of runs");
      break;
    case stats::ValueOf::kReason:
      return fmt::format("in {}, some of its bytes could not be counted; the value is the reason",
                         Counted(count, "run"));
  }
  return std::string(traits.where) + Together(row, style, values, traits.verb, traits.what);
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
