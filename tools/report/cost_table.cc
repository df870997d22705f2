#include "tools/report/cost_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kSpectrumWidth = 16;
constexpr std::size_t kWideSpectrum = 32;
constexpr std::size_t kMaxApiWidth = 44;
constexpr std::size_t kMaxLibraryWidth = 28;
constexpr std::size_t kMaxVersionWidth = 22;

using Line = std::vector<draw::TextCell>;

Line HeadingLine() {
  return {{"API"},           {"LIBRARY"},     {"VERSION"},          {"CALLS", true},
          {"CONTRIB", true}, {"P50", true},   {"P95", true},        {"P99", true},
          {"MEAN", true},    {"TOTAL", true}, {"ALLOC/CALL", true}, {"SPECTRUM"}};
}

// Two versions of one symbol in one library would look alike without its version.
using Twins = std::map<std::tuple<std::string_view, std::string_view, std::string_view>, int>;

Twins CountTwins(std::span<const analysis::CostSummary> summaries) {
  Twins twins;
  for (const analysis::CostSummary& summary : summaries) {
    const stats::ApiKey& api = summary.api;
    ++twins[{api.soname, api.package_version, api.symbol}];
  }
  return twins;
}

std::string SymbolText(const stats::ApiKey& api, const Twins& twins) {
  const bool alone = twins.at({api.soname, api.package_version, api.symbol}) == 1;
  return alone || api.symbol_version.empty() ? api.symbol : api.symbol + "@" + api.symbol_version;
}

Line NameCells(const stats::ApiKey& api, const Twins& twins, const draw::Style& style) {
  return {
      {draw::Shorten(SymbolText(api, twins), kMaxApiWidth, style)},
      {draw::Shorten(api.soname, kMaxLibraryWidth, style)},
      {api.package_version.empty() ? "-"
                                   : draw::Shorten(api.package_version, kMaxVersionWidth, style)}};
}

Line TableLine(const analysis::CostSummary& summary, const Twins& twins, const draw::Style& style) {
  const stats::Metric wall = stats::Metric::kWallTime;
  const analysis::MetricSummary* time = summary.FindTime();
  const analysis::MetricSummary* alloc = summary.Find(stats::Metric::kAllocInclusive);
  Line line = NameCells(summary.api, twins, style);
  if (summary.local_only) line[1].text += " (local only)";
  line.push_back({draw::FormatCount(analysis::CallsOf(summary)), true});
  const analysis::MetricSummary* contributed = time != nullptr ? time : alloc;
  line.push_back(
      {contributed == nullptr ? kUnknown : draw::FormatCount(contributed->figures.contributions),
       true});
  const stats::Figures figures = time == nullptr ? stats::Figures{} : time->figures;
  const std::string mark = summary.IsOnlyOfBusyMachines() ? "*" : "";
  for (const auto which :
       {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
    line.push_back({QuantileText(figures, which, wall, style) + mark, true});
  }
  line.push_back({draw::FormatCost(figures.mean, wall, style) + mark, true});
  line.push_back({draw::TotalText(analysis::TotalOf(summary), style), true});
  line.push_back({draw::FormatCost(alloc == nullptr ? std::nullopt : alloc->figures.mean,
                                   stats::Metric::kAllocInclusive, style),
                  true});
  line.push_back({time == nullptr ? ""
                                  : draw::Spectrum(draw::BarsOf(time->sums, time->figures, wall),
                                                   kSpectrumWidth, style)});
  return line;
}

}  // namespace

std::string TableNote(std::span<const analysis::CostSummary> summaries, const draw::Style& style) {
  bool field = false;
  bool unknown = false;
  bool at_least = false;
  bool busy = false;
  for (const analysis::CostSummary& summary : summaries) {
    const analysis::MetricSummary* time = summary.FindTime();
    if (time == nullptr) continue;
    busy = busy || summary.IsOnlyOfBusyMachines();
    const auto total = analysis::TotalOf(summary);
    at_least = at_least || (total && !total->of_all_runs);
    if (time->figures.whose == stats::Whose::kOwn) continue;
    field = true;
    unknown = unknown || !time->figures.mean || !time->figures.quantiles;
  }
  std::vector<std::string> notes;
  if (field) notes.emplace_back("P50 to P99: the typical machine's, with little load at the start");
  if (busy) notes.emplace_back("*: with some load at the start");
  if (at_least)
    notes.push_back(fmt::format("TOTAL {}: of measured runs only", draw::AtLeast(style)));
  if (unknown) notes.emplace_back("-: most contributions are too old to tell");
  return notes.empty() ? "" : fmt::format("({})\n", fmt::join(notes, "; "));
}

std::string CostTable(std::span<const analysis::CostSummary> summaries, const draw::Style& style) {
  std::vector<Line> lines = {HeadingLine()};
  const Twins twins = CountTwins(summaries);
  for (const analysis::CostSummary& summary : summaries)
    lines.push_back(TableLine(summary, twins, style));
  return draw::TextTable(lines);
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
  std::vector<Line> lines = {{{"API"},
                              {"LIBRARY"},
                              {"VERSION"},
                              {"N", true},
                              {"CONTRIB", true},
                              {"P50", true},
                              {"P99", true},
                              {"SPECTRUM"}}};
  const Twins twins = CountTwins(summaries);
  std::set<std::string> strata;
  for (const analysis::CostSummary& summary : summaries) {
    const analysis::MetricSummary* numbers = summary.Find(metric);
    if (numbers == nullptr) continue;
    Line line = NameCells(summary.api, twins, style);
    const stats::Figures& figures = numbers->figures;
    line.push_back({draw::FormatCount(figures.calls), true});
    line.push_back({draw::FormatCount(figures.contributions), true});
    for (const auto which : {&stats::Quantiles::p50, &stats::Quantiles::p99}) {
      line.push_back({QuantileText(figures, which, metric, style), true});
    }
    line.push_back({draw::SpectrumOver(draw::BarsOf(numbers->sums, numbers->figures, metric),
                                       *range, kWideSpectrum, style)});
    lines.push_back(std::move(line));
    strata.insert(analysis::StrataText(numbers->strata));
  }
  std::string text = draw::TextTable(lines);
  text += fmt::format("{}, {}\n", stats::Name(metric),
                      strata.size() == 1 ? *strata.begin() : "different strata: fieldcost show");
  return text + draw::SpectrumLegend(*range, kWideSpectrum, metric, style);
}

}  // namespace fieldcost::report
