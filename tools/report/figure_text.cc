#include "tools/report/figure_text.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::report {

std::string_view LoadText(stats::Metric metric) {
  if (metric == stats::Metric::kWallTime) return "; under low load";
  if (metric == stats::Metric::kWallTimeBusy) return "; under some load";
  return "";
}

std::optional<std::uint64_t> TimedCalls(const stats::Figures& figures) {
  return figures.all_calls ? figures.all_calls->timed : figures.calls;
}

std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const draw::Style& style) {
  const std::uint64_t least = which == &stats::Quantiles::p99   ? kLeastForP99
                              : which == &stats::Quantiles::p95 ? kLeastForP95
                                                                : 1;
  if (!figures.quantiles || TimedCalls(figures).value_or(least) < least) return kUnknown;
  return draw::FormatCost((*figures.quantiles.*which).estimate, metric, style);
}

std::string EstimateText(const std::optional<stats::FieldCost>& total, const draw::Style& style) {
  if (!total) return "-";
  const std::string time = draw::TotalText(total->ns, style);
  return time + (total->of_all_runs ? " estimated, all runs" : " in measured runs");
}

std::string MachinesText(const stats::Figures& figures) {
  FIELDCOST_CHECK(figures.machines != 0);
  std::string text =
      fmt::format("each of {} counts the same", Counted(figures.machines, "contribution"));
  if (figures.machines < figures.contributions) {
    text += fmt::format("; {} without weight",
                        draw::FormatCount(figures.contributions - figures.machines));
  }
  return text;
}

std::string AllCallsText(const stats::Figures& figures) {
  if (figures.all_calls) return "";
  return figures.few_machines ? fmt::format("left out, {}", kFewMachinesText)
                              : "left out, it is unknown whether a few machines made most of them";
}

}  // namespace fieldcost::report
