#include "tools/report/cost_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <vector>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "tools/report/api_names.h"
#include "tools/report/figure_text.h"
#include "tools/report/vendor_text.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kWideSpectrum = 32;

const std::vector<draw::TextColumn>& CostColumns() {
  static const std::vector<draw::TextColumn> columns = {{"TOTAL", true, 1},
                                                        {"SHARE", true, 2},
                                                        {"API", false, 0, kLeastApiWidth, true},
                                                        LibraryColumn(0),
                                                        {"N", true, 9},
                                                        {"P50", true},
                                                        {"P95", true, 6},
                                                        {"P99", true, 5},
                                                        {"MEAN", true, 7},
                                                        {"CALLS", true},
                                                        {"CONTRIB", true, 11},
                                                        {"ALLOC/CALL", true, 8},
                                                        {"VERSION", false, 10, kLeastLibraryWidth},
                                                        {kSpectrum, false, 3}};
  return columns;
}

std::string VersionText(const stats::ApiKey& api, const draw::Style& style) {
  return api.package_version.empty() ? "-"
                                     : draw::Shorten(api.package_version, kMaxVersionWidth, style);
}

std::string LibraryText(const analysis::CostSummary& summary) {
  // The name "(private)", the sum over all libraries that are not public, needs no mark.
  const bool mark = summary.local_only && !summary.api.soname.starts_with('(');
  return EscapeControl(summary.api.soname) + (mark ? " (local only)" : "");
}

std::string ShareOfWhole(const analysis::ApiCost& cost,
                         const std::optional<stats::FieldCost>& whole) {
  const bool known = whole && cost.total && whole->of_all_runs == cost.total->of_all_runs;
  return known && whole->ns > 0 ? draw::RoughShareText(cost.total->ns / whole->ns) : kUnknown;
}

draw::TextLine LineOf(const analysis::ApiCost& cost, const ApiNames& names,
                      const std::optional<stats::FieldCost>& whole,
                      const std::optional<draw::UsedSlots>& range, const draw::Style& style) {
  const stats::Metric wall = stats::Metric::kWallTime;
  const analysis::CostSummary& summary = cost.shown();
  const analysis::MetricSummary* time = summary.FindTime();
  const analysis::MetricSummary* alloc = summary.Find(stats::Metric::kAllocInclusive);
  const analysis::MetricSummary* contributed = time != nullptr ? time : alloc;
  const stats::Figures figures = time == nullptr ? stats::Figures{} : time->figures;
  const std::string mark = summary.IsOnlyOfBusyMachines() ? "*" : "";
  const auto quantile = [&](stats::Quantile stats::Quantiles::*which) {
    const std::string text = QuantileText(figures, which, wall, style);
    return text == kUnknown ? text : text + mark;
  };
  const bool is_own = contributed != nullptr && contributed->figures.whose == stats::Whose::kOwn;
  std::string version = VersionText(summary.api, style);
  if (cost.versions.size() > 1) {
    version +=
        fmt::format(" ({}+{})", cost.is_installed ? "installed, " : "", cost.versions.size() - 1);
  }
  const bool drawn = time != nullptr && range;
  return {draw::TotalText(cost.total, style),
          ShareOfWhole(cost, whole),
          names.Of(summary.api, style),
          LibraryText(summary),
          draw::FormatCount(TimedCalls(figures)),
          quantile(&stats::Quantiles::p50),
          quantile(&stats::Quantiles::p95),
          quantile(&stats::Quantiles::p99),
          draw::FormatCost(figures.mean, wall, style) + mark,
          draw::FormatCount(cost.calls),
          contributed == nullptr || is_own ? kUnknown
                                           : draw::FormatCount(contributed->figures.contributions),
          draw::FormatCost(alloc == nullptr ? std::nullopt : alloc->figures.mean,
                           stats::Metric::kAllocInclusive, style),
          version,
          drawn ? draw::SpectrumOver(draw::BarsOf(time->sums, time->figures, wall), *range,
                                     kSpectrumWidth, style)
                : ""};
}

// The slots that the times of any of these APIs use.
std::optional<draw::UsedSlots> UsedByTimes(std::span<const analysis::ApiCost> costs) {
  std::optional<draw::UsedSlots> range;
  for (const analysis::ApiCost& cost : costs) {
    const analysis::MetricSummary* time = cost.shown().FindTime();
    if (time == nullptr) continue;
    range = Join(range, draw::FindUsedSlots(
                            draw::BarsOf(time->sums, time->figures, stats::Metric::kWallTime)));
  }
  return range;
}

}  // namespace

std::string TableNote(std::span<const analysis::ApiCost> costs, const draw::Style& style) {
  bool field = false;
  bool unknown = false;
  bool at_least = false;
  bool all_runs = false;
  bool busy = false;
  bool joined = false;
  for (const analysis::ApiCost& cost : costs) {
    at_least = at_least || (cost.total && !cost.total->of_all_runs);
    all_runs = all_runs || (cost.total && cost.total->of_all_runs);
    joined = joined || cost.versions.size() > 1;
    const analysis::MetricSummary* time = cost.shown().FindTime();
    if (time == nullptr) continue;
    busy = busy || cost.shown().IsOnlyOfBusyMachines();
    if (time->figures.whose == stats::Whose::kOwn) continue;
    field = true;
    unknown = unknown || !time->figures.mean || !time->figures.quantiles;
  }
  std::vector<std::string> notes;
  if (all_runs) notes.emplace_back("TOTAL, SHARE: estimated, all runs; CALLS: measured");
  if (field)
    notes.emplace_back("P50 to P99: the typical machine's, in runs started under low load");
  if (joined) {
    notes.emplace_back(
        "TOTAL, SHARE, CALLS: all versions; other columns: the installed version, otherwise the "
        "newest; --versions lists each");
  }
  if (busy) notes.emplace_back("*: in runs started under some load");
  if (at_least)
    notes.push_back(fmt::format("TOTAL {}: of measured runs only", draw::AtLeast(style)));
  if (unknown) notes.emplace_back("-: unknown");
  return notes.empty() ? "" : fmt::format("({})\n", fmt::join(notes, "; "));
}

std::string CostTable(std::span<const analysis::ApiCost> costs,
                      const std::optional<stats::FieldCost>& whole, const draw::Style& style) {
  ApiNames names;
  for (const analysis::ApiCost& cost : costs) names.Add(cost.shown().api);
  const std::optional<draw::UsedSlots> range = UsedByTimes(costs);
  std::vector<draw::TextLine> lines;
  for (const analysis::ApiCost& cost : costs) {
    lines.push_back(LineOf(cost, names, whole, range, style));
  }
  std::string text = draw::TextTable(CostColumns(), lines, style);
  if (range && draw::HasColumn(text, kSpectrum))
    text += draw::SpectrumLegend(*range, kSpectrumWidth, stats::Metric::kWallTime, style);
  return text;
}

std::string SpectrumTable(std::span<const analysis::CostSummary> summaries, stats::Metric metric,
                          const draw::Style& style) {
  std::optional<draw::UsedSlots> range;
  for (const analysis::CostSummary& summary : summaries) {
    const analysis::MetricSummary* numbers = summary.Find(metric);
    if (numbers != nullptr)
      range =
          Join(range, draw::FindUsedSlots(draw::BarsOf(numbers->sums, numbers->figures, metric)));
  }
  if (!range) return "";
  const std::vector<draw::TextColumn> columns = {{"API", false, 0, kLeastApiWidth, true},
                                                 LibraryColumn(4),
                                                 {"VERSION", false, 3, kLeastLibraryWidth},
                                                 {"N", true, 2},
                                                 {"CONTRIB", true, 6},
                                                 {"P50", true, 1},
                                                 {"P99", true, 5},
                                                 {kSpectrum}};
  std::vector<draw::TextLine> lines;
  ApiNames names;
  for (const analysis::CostSummary& summary : summaries) names.Add(summary.api);
  std::set<std::string> strata;
  for (const analysis::CostSummary& summary : summaries) {
    const analysis::MetricSummary* numbers = summary.Find(metric);
    if (numbers == nullptr) continue;
    const stats::Figures& figures = numbers->figures;
    lines.push_back({names.Of(summary.api, style), LibraryText(summary),
                     VersionText(summary.api, style), draw::FormatCount(TimedCalls(figures)),
                     draw::FormatCount(figures.contributions),
                     QuantileText(figures, &stats::Quantiles::p50, metric, style),
                     QuantileText(figures, &stats::Quantiles::p99, metric, style),
                     draw::SpectrumOver(draw::BarsOf(numbers->sums, figures, metric), *range,
                                        kWideSpectrum, style)});
    strata.insert(analysis::StrataText(numbers->strata));
  }
  std::string text = draw::TextTable(columns, lines, style);
  text += fmt::format("{}, {}\n", stats::Name(metric),
                      strata.size() == 1 ? *strata.begin() : "different strata: fieldcost show");
  return text + draw::SpectrumLegend(*range, kWideSpectrum, metric, style);
}

}  // namespace fieldcost::report
