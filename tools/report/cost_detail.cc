#include "tools/report/cost_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "common/stats/metric_traits.h"
#include "tools/report/figure_text.h"
#include "tools/report/not_measured.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kDetailSpectrumWidth = 32;

std::string QuantileLine(const char* name, const stats::Quantile& quantile, stats::Metric metric,
                         const draw::Style& style) {
  std::string text = fmt::format(
      "    {}  {}", name, draw::PadLeft(draw::FormatCost(quantile.estimate, metric, style), 8));
  if (quantile.low != quantile.high) {
    text += fmt::format("  (guaranteed {}{})",
                        draw::IsUnderLeastTime(quantile.high, metric) ? "" : "between ",
                        draw::FormatInterval(quantile.low, quantile.high, " and ", metric, style));
  }
  return text + "\n";
}

// Lines for the quantiles of `count` values, except those that so few values do not determine.
std::string QuantileLines(const stats::Quantiles& quantiles, std::uint64_t count,
                          stats::Metric metric, const draw::Style& style) {
  if (count == 1) {
    const bool is_run = stats::TraitsOf(metric).value_of == stats::ValueOf::kRun;
    return fmt::format("    one {}: {}\n", is_run ? "run" : "call",
                       draw::FormatCost(quantiles.p50.estimate, metric, style));
  }
  std::string text = QuantileLine("p50", quantiles.p50, metric, style);
  if (count >= kLeastForP95) text += QuantileLine("p95", quantiles.p95, metric, style);
  if (count >= kLeastForP99) text += QuantileLine("p99", quantiles.p99, metric, style);
  return text;
}

// What one value of the metric represents: per run there is one number of calls and one first call.
std::string NumberText(stats::Metric metric, const stats::Figures& figures) {
  if (!figures.calls) return "n -";
  const std::uint64_t count = *figures.calls;
  const std::string runs = Counted(count, "run");
  if (metric == stats::Metric::kFirstCallTime) return runs;
  if (metric == stats::Metric::kTimePerRun) return "about " + runs;
  if (metric != stats::Metric::kCallsPerRun) return "n " + draw::FormatCount(count);
  const stats::Uint128 most = std::numeric_limits<std::uint64_t>::max();
  const auto calls = static_cast<std::uint64_t>(std::min(*figures.sum, most));
  return fmt::format("{}, {} measured", runs, Counted(calls, "call"));
}

std::string Indent(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    out += fmt::format("    {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The name, for C++ followed by the demangled one and, with `mangled`, by the symbol itself.
std::string NameLine(const analysis::CostSummary& summary, bool mangled) {
  const stats::ApiKey& api = summary.api;
  std::string text = EscapeControl(names::ShownName(api));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {} {}", name, EscapeControl(value));
  };
  add("version", api.package_version);
  add("symbol version", api.symbol_version);
  add("build-id", api.build_id);
  if (summary.local_only) text += "  local only";
  text += "\n";
  const std::string full = names::DemangledName(api.symbol);
  if (full == api.symbol) return text;
  text += fmt::format("  {}\n", EscapeControl(draw::WithStandardNames(full)));
  return mangled ? text + fmt::format("  {}\n", EscapeControl(api.symbol)) : text;
}

std::string CountLine(const analysis::CostSummary& summary, stats::Metric metric,
                      const analysis::MetricSummary& numbers) {
  const std::uint64_t contributions = numbers.figures.contributions;
  const auto& all = numbers.figures.all_calls;
  const std::string measured =
      !all || all->timed == all->totals.count
          ? ""
          : fmt::format(", represented by {} measured ones", draw::FormatCount(all->timed));
  return fmt::format("    {}{}, {}; {}{}\n", NumberText(metric, numbers.figures), measured,
                     Counted(contributions, "contribution"), analysis::StrataText(numbers.strata),
                     summary.load_known ? LoadText(metric) : "");
}

// The total cost of all runs.
std::string TotalLine(stats::Metric metric, const analysis::CostSummary& summary,
                      const draw::Style& style) {
  if (metric != stats::Metric::kTimePerRun) return "";
  const auto total = analysis::TotalOf(summary);
  if (!total) return "";
  return fmt::format("    estimated, {}: {} (standard error {})\n", draw::RunsText(*total),
                     draw::TotalText(total, style),
                     draw::TotalText(total->standard_error_ns, style));
}

// The quantiles, with a heading that names their population if it is not obvious.
std::string MainQuantiles(stats::Metric metric, const stats::Figures& figures,
                          const draw::Style& style) {
  if (!figures.quantiles) return "    quantiles: not known, published without weights\n";
  std::string text;
  if (figures.whose == stats::Whose::kField) {
    text = fmt::format("    typical machine: {}\n", MachinesText(figures));
  }
  return text + QuantileLines(*figures.quantiles, TimedCalls(figures).value_or(1), metric, style);
}

std::string MeanText(stats::Metric metric, double mean, double deviation,
                     const draw::Style& style) {
  return fmt::format("mean {}, standard deviation {}\n", draw::FormatCost(mean, metric, style),
                     draw::FormatSpread(deviation, metric, style));
}

// The numbers that weight every call equally, or why they are omitted.
std::string AllCallsLines(const analysis::MetricSummary& numbers, stats::Metric metric,
                          const draw::Style& style) {
  const stats::Figures& figures = numbers.figures;
  if (!figures.all_calls) return fmt::format("    all calls: {}\n", AllCallsText(figures));
  const stats::CallFigures& calls = *figures.all_calls;
  return fmt::format("    all calls: each of {} counts the same\n",
                     draw::FormatCount(numbers.sums.histogram.count())) +
         QuantileLines(calls.quantiles, calls.timed, metric, style) + "    " +
         MeanText(metric, calls.mean, calls.standard_deviation, style);
}

// A metric with everything known about it.
std::string MetricDetail(const analysis::CostSummary& summary, stats::Metric metric,
                         const analysis::MetricSummary& numbers, const draw::Style& style) {
  const stats::Figures& figures = numbers.figures;
  const draw::Bars bars = draw::BarsOf(numbers.sums, figures, metric);
  std::string text = fmt::format("\n  {}  {}\n", stats::Name(metric),
                                 draw::Spectrum(bars, kDetailSpectrumWidth, style));
  text.erase(text.find_last_not_of(" \n") + 1);
  text += "\n" + CountLine(summary, metric, numbers) + TotalLine(metric, summary, style);
  text += MainQuantiles(metric, figures, style);
  if (figures.whose == stats::Whose::kOwn) {
    if (TimedCalls(figures) != 1U) {
      text +=
          "    " + MeanText(metric, *figures.mean, figures.all_calls->standard_deviation, style);
    }
  } else {
    text += fmt::format("    mean {}\n", draw::FormatCost(figures.mean, metric, style));
    text += AllCallsLines(numbers, metric, style);
  }
  return text + "\n" + Indent(draw::HistogramView(bars, metric, style));
}

// If some runs did not measure it, their values are unknown.
bool IsAlwaysZero(const analysis::CostSummary& summary, stats::Metric metric,
                  const analysis::MetricSummary& numbers) {
  return numbers.sums.histogram.sum() == 0 && !summary.IsPartly(metric);
}

void AddNotMeasured(const analysis::CostSummary& summary, std::vector<draw::TextLine>& lines) {
  for (const NotMeasuredPart& part : NotMeasuredParts(summary)) {
    lines.push_back({"not measured", Text(part)});
  }
}

std::string NotMeasuredLines(const analysis::CostSummary& summary, const draw::Style& style) {
  std::vector<draw::TextLine> lines;
  AddNotMeasured(summary, lines);
  return lines.empty() ? "" : "\n" + draw::TextTable({{}, {}}, lines, style, "  ");
}

// Returns an earlier metric with the same unit and the same sums; null if none.
const stats::Metric* SameBefore(const analysis::CostSummary& summary, stats::Metric metric,
                                const analysis::MetricSummary& numbers) {
  for (const auto& [other, others] : summary.metrics) {
    if (other == metric) break;
    if (stats::Unit(other) == stats::Unit(metric) &&
        others.sums.histogram == numbers.sums.histogram) {
      return &other;
    }
  }
  return nullptr;
}

std::string BriefLine(const analysis::CostSummary& summary, stats::Metric metric,
                      const analysis::MetricSummary& numbers, const draw::Style& style) {
  if (metric == stats::Metric::kTimePerRun) {
    const auto total = TotalOf(summary);
    return total ? fmt::format("estimated, {}: {} (standard error {})", draw::RunsText(*total),
                               draw::TotalText(total, style),
                               draw::TotalText(total->standard_error_ns, style))
                 : "";
  }
  const stats::Figures& figures = numbers.figures;
  return fmt::format("p50 {}, p99 {}, mean {}; {}",
                     QuantileText(figures, &stats::Quantiles::p50, metric, style),
                     QuantileText(figures, &stats::Quantiles::p99, metric, style),
                     draw::FormatCost(figures.mean, metric, style), NumberText(metric, figures));
}

bool IsInFull(const analysis::CostSummary& summary, stats::Metric metric) {
  if (metric == stats::Metric::kWallTimeBusy) return summary.IsOnlyOfBusyMachines();
  return metric == stats::Metric::kWallTime || metric == stats::Metric::kAllocInclusive;
}

}  // namespace

std::string CostDetail(const analysis::CostSummary& summary, const draw::Style& style) {
  std::string text = NameLine(summary, true);
  for (const auto& [metric, numbers] : summary.metrics) {
    text += MetricDetail(summary, metric, numbers, style);
  }
  return text + NotMeasuredLines(summary, style);
}

std::string CostBrief(const analysis::CostSummary& summary, const draw::Style& style) {
  std::string text = NameLine(summary, false);
  std::vector<draw::TextLine> lines;
  std::string zero;
  for (const auto& [metric, numbers] : summary.metrics) {
    if (IsAlwaysZero(summary, metric, numbers)) {
      zero += (zero.empty() ? "" : ", ") + std::string(stats::Name(metric));
    } else if (const stats::Metric* same = SameBefore(summary, metric, numbers)) {
      lines.push_back(
          {std::string(stats::Name(metric)), fmt::format("the same as {}", stats::Name(*same))});
    } else if (IsInFull(summary, metric)) {
      text += MetricDetail(summary, metric, numbers, style);
    } else {
      lines.push_back(
          {std::string(stats::Name(metric)), BriefLine(summary, metric, numbers, style)});
    }
  }
  if (!zero.empty()) lines.push_back({"always 0", zero});
  AddNotMeasured(summary, lines);
  if (!lines.empty()) text += "\n" + draw::TextTable({{}, {}}, lines, style, "  ");
  return text;
}

std::string HistogramDetail(const analysis::CostSummary& summary, const draw::Style& style) {
  std::string text = NameLine(summary, false);
  for (const auto& [metric, numbers] : summary.metrics) {
    text += fmt::format("\n  {}\n", stats::Name(metric));
    text += CountLine(summary, metric, numbers);
    text += MainQuantiles(metric, numbers.figures, style) + "\n";
    text += Indent(
        draw::HistogramView(draw::BarsOf(numbers.sums, numbers.figures, metric), metric, style,
                            numbers.figures.all_calls ? &numbers.sums.histogram : nullptr));
  }
  return text + NotMeasuredLines(summary, style);
}

}  // namespace fieldcost::report
