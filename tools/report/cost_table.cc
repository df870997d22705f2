#include "tools/report/cost_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <set>
#include <tuple>

#include "common/base/text.h"
#include "tools/report/numbers.h"
#include "tools/report/spectrum.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kSpectrumWidth = 16;
constexpr std::size_t kWideSpectrum = 32;
constexpr std::size_t kMaxApiWidth = 44;
constexpr std::size_t kMaxLibraryWidth = 28;
constexpr std::size_t kMaxVersionWidth = 22;

const stats::ApiSums* SumsOf(const CostSummary& summary, stats::Metric metric) {
  const MetricSummary* numbers = summary.Find(metric);
  return numbers == nullptr ? nullptr : &numbers->sums;
}

stats::Whose WhoseIs(const CostSummary& summary) {
  return summary.metrics.empty() ? stats::Whose::kField
                                 : summary.metrics.begin()->second.figures.whose;
}

// -1 = not known.
double ValueOf(const CostSummary& summary, SortKey key) {
  if (key == SortKey::kCalls) return static_cast<double>(CallsOf(summary).value_or(0));
  const MetricSummary* time = summary.FindTime();
  if (time == nullptr) return -1;
  const stats::Figures& figures = time->figures;
  const auto quantile = [&](stats::Quantile stats::Quantiles::*which) {
    return figures.quantiles ? (*figures.quantiles.*which).estimate : -1;
  };
  switch (key) {
    case SortKey::kP50:
      return quantile(&stats::Quantiles::p50);
    case SortKey::kP95:
      return quantile(&stats::Quantiles::p95);
    case SortKey::kP99:
      return quantile(&stats::Quantiles::p99);
    case SortKey::kMean:
      return figures.mean.value_or(-1);
    case SortKey::kCalls:
    case SortKey::kTotal:
      break;
  }
  return -1;
}

stats::TotalParts PartsOf(const CostSummary& summary) {
  return {.wall_time = SumsOf(summary, stats::Metric::kWallTime),
          .wall_time_busy = SumsOf(summary, stats::Metric::kWallTimeBusy),
          .calls_per_run = SumsOf(summary, stats::Metric::kCallsPerRun),
          .time_per_run = SumsOf(summary, stats::Metric::kTimePerRun)};
}

struct Cell {
  std::string text;
  bool right = false;
};
using Line = std::vector<Cell>;

Line HeadingLine() {
  return {{"API"},           {"LIBRARY"},     {"VERSION"},          {"CALLS", true},
          {"CONTRIB", true}, {"P50", true},   {"P95", true},        {"P99", true},
          {"MEAN", true},    {"TOTAL", true}, {"ALLOC/CALL", true}, {"SPECTRUM"}};
}

// Two versions of one symbol in one library would look alike without its version.
using Twins = std::map<std::tuple<std::string_view, std::string_view, std::string_view>, int>;

Twins CountTwins(std::span<const CostSummary> summaries) {
  Twins twins;
  for (const CostSummary& summary : summaries) {
    const stats::ApiKey& api = summary.api;
    ++twins[{api.soname, api.package_version, api.symbol}];
  }
  return twins;
}

std::string SymbolText(const stats::ApiKey& api, const Twins& twins) {
  const bool alone = twins.at({api.soname, api.package_version, api.symbol}) == 1;
  return alone || api.symbol_version.empty() ? api.symbol : api.symbol + "@" + api.symbol_version;
}

Line NameCells(const stats::ApiKey& api, const Twins& twins, const Style& style) {
  return {
      {Shorten(SymbolText(api, twins), kMaxApiWidth, style)},
      {Shorten(api.soname, kMaxLibraryWidth, style)},
      {api.package_version.empty() ? "-" : Shorten(api.package_version, kMaxVersionWidth, style)}};
}

constexpr char kUnknown[] = "-";

Line TableLine(const CostSummary& summary, const Twins& twins, const Style& style) {
  const stats::Metric wall = stats::Metric::kWallTime;
  const MetricSummary* time = summary.FindTime();
  const MetricSummary* alloc = summary.Find(stats::Metric::kAllocInclusive);
  Line line = NameCells(summary.api, twins, style);
  if (summary.local_only) line[1].text += " (local only)";
  line.push_back({FormatCount(CallsOf(summary)), true});
  const MetricSummary* contributed = time != nullptr ? time : alloc;
  line.push_back(
      {contributed == nullptr ? kUnknown : FormatCount(contributed->figures.contributions), true});
  const stats::Figures figures = time == nullptr ? stats::Figures{} : time->figures;
  const std::string mark = summary.IsOnlyOfBusyMachines() ? "*" : "";
  for (const auto which :
       {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
    line.push_back({QuantileText(figures, which, wall, style) + mark, true});
  }
  line.push_back({FormatCost(figures.mean, wall, style) + mark, true});
  line.push_back({TotalText(TotalOf(summary), style), true});
  line.push_back({FormatCost(alloc == nullptr ? std::nullopt : alloc->figures.mean,
                             stats::Metric::kAllocInclusive, style),
                  true});
  line.push_back({time == nullptr
                      ? ""
                      : Spectrum(BarsOf(time->sums, time->figures, wall), kSpectrumWidth, style)});
  return line;
}

std::string QuantileLine(const char* name, const stats::Quantile& quantile, stats::Metric metric,
                         const Style& style) {
  return fmt::format("    {}  {}  (certainly {}{})\n", name,
                     PadLeft(FormatCost(quantile.estimate, metric, style), 8),
                     IsUnderLeastTime(quantile.high, metric) ? "" : "between ",
                     FormatInterval(quantile.low, quantile.high, " and ", metric, style));
}

std::string QuantileLines(const stats::Quantiles& quantiles, stats::Metric metric,
                          const Style& style) {
  return QuantileLine("p50", quantiles.p50, metric, style) +
         QuantileLine("p95", quantiles.p95, metric, style) +
         QuantileLine("p99", quantiles.p99, metric, style);
}

// What one value of the metric stands for: a run has one number of calls and one first call.
std::string NumberText(stats::Metric metric, const stats::Figures& figures) {
  if (!figures.calls) return "n -";
  const std::uint64_t count = *figures.calls;
  const std::string runs = fmt::format("{} run{}", FormatCount(count), count == 1 ? "" : "s");
  if (metric == stats::Metric::kFirstCallTime) return runs;
  if (metric == stats::Metric::kTimePerRun) return "about " + runs;
  if (metric != stats::Metric::kCallsPerRun) return "n " + FormatCount(count);
  const stats::Uint128 most = std::numeric_limits<std::uint64_t>::max();
  const auto calls = static_cast<std::uint64_t>(std::min(*figures.sum, most));
  return fmt::format("{}, {} call{} in all", runs, FormatCount(calls), calls == 1 ? "" : "s");
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

std::string NameLine(const CostSummary& summary) {
  const stats::ApiKey& api = summary.api;
  std::string text = EscapeControl(stats::DisplayName(api));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {} {}", name, EscapeControl(value));
  };
  add("version", api.package_version);
  add("symbol version", api.symbol_version);
  add("build-id", api.build_id);
  if (summary.local_only) text += "  local only";
  return text + "\n";
}

std::string CountLine(stats::Metric metric, const MetricSummary& numbers) {
  const std::uint64_t contributions = numbers.figures.contributions;
  const auto& all = numbers.figures.all_calls;
  const std::string measured =
      !all || all->timed == all->totals.count
          ? ""
          : fmt::format(", for which {} measured stand", FormatCount(all->timed));
  return fmt::format("    {}{}, {} contribution{}; {}{}\n", NumberText(metric, numbers.figures),
                     measured, FormatCount(contributions), contributions == 1 ? "" : "s",
                     StrataText(numbers.strata), LoadText(metric));
}

// Of all runs: what they have cost together.
std::string TotalLine(stats::Metric metric, const CostSummary& summary, const Style& style) {
  if (metric != stats::Metric::kTimePerRun) return "";
  const auto total = TotalOf(summary);
  if (!total) return "";
  return fmt::format("    in all runs, measured or not: {} (standard error {})\n",
                     TotalText(total, style), TotalText(total->standard_error_ns, style));
}

// The quantiles with a heading that says whose they are, if that is not plain.
std::string MainQuantiles(stats::Metric metric, const stats::Figures& figures, const Style& style) {
  if (!figures.quantiles) return "    quantiles: not known, published without weights\n";
  std::string text;
  if (figures.whose == stats::Whose::kField) {
    text = fmt::format("    typical machine: {}\n", MachinesText(figures));
  }
  return text + QuantileLines(*figures.quantiles, metric, style);
}

std::string MeanText(stats::Metric metric, double mean, double deviation, const Style& style) {
  return fmt::format("mean {}, standard deviation {}\n", FormatCost(mean, metric, style),
                     FormatSpread(deviation, metric, style));
}

// What is not known is below all.
std::partial_ordering OrderOf(const std::optional<stats::FieldCost>& a,
                              const std::optional<stats::FieldCost>& b) {
  if (a && b) return *a <=> *b;
  return a.has_value() <=> b.has_value();
}

}  // namespace

std::optional<std::uint64_t> CallsOf(const CostSummary& summary) {
  return stats::FieldCalls(PartsOf(summary), WhoseIs(summary));
}

std::optional<stats::FieldCost> TotalOf(const CostSummary& summary) {
  return stats::FieldTotal(PartsOf(summary), WhoseIs(summary));
}

const MetricSummary* CostSummary::Find(stats::Metric metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? nullptr : &found->second;
}

const MetricSummary* CostSummary::FindTime() const {
  const MetricSummary* time = Find(stats::Metric::kWallTime);
  return time != nullptr ? time : Find(stats::Metric::kWallTimeBusy);
}

bool CostSummary::IsOnlyOfBusyMachines() const {
  return Find(stats::Metric::kWallTime) == nullptr && FindTime() != nullptr;
}

std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows, stats::Whose whose) {
  std::map<std::pair<stats::ApiKey, stats::Metric>, int> widest;
  for (const stats::StatRow& row : rows) {
    int& width = widest.try_emplace({row.key.api, row.key.metric}, 0).first->second;
    width = std::max(width, stats::StratumWidth(row.key));
  }
  std::map<stats::ApiKey, CostSummary> by_api;
  for (const stats::StatRow& row : rows) {
    if (stats::StratumWidth(row.key) != widest.at({row.key.api, row.key.metric})) continue;
    CostSummary& summary = by_api[row.key.api];
    summary.api = row.key.api;
    MetricSummary& metric = summary.metrics[row.key.metric];
    metric.sums.Merge(row);
    metric.strata.Add(row.key);
  }
  std::vector<CostSummary> summaries;
  for (auto& [api, summary] : by_api) {
    for (auto& [number, metric] : summary.metrics) {
      metric.figures = stats::FiguresOf(metric.sums, whose);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::optional<SortKey> ParseSortKey(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, SortKey>, 6> kNames = {
      {{"calls", SortKey::kCalls},
       {"p50", SortKey::kP50},
       {"p95", SortKey::kP95},
       {"p99", SortKey::kP99},
       {"mean", SortKey::kMean},
       {"total", SortKey::kTotal}}};
  for (const auto& [name, key] : kNames) {
    if (name == text) return key;
  }
  return std::nullopt;
}

void Sort(std::vector<CostSummary>& summaries, SortKey key) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [key](const CostSummary& a, const CostSummary& b) {
                     const std::partial_ordering order = key == SortKey::kTotal
                                                             ? OrderOf(TotalOf(b), TotalOf(a))
                                                             : ValueOf(b, key) <=> ValueOf(a, key);
                     return order != 0 ? order < 0 : a.api < b.api;
                   });
}

std::string_view LoadText(stats::Metric metric) {
  if (metric == stats::Metric::kWallTime) return "; under little load";
  if (metric == stats::Metric::kWallTimeBusy) return "; under some load";
  return "";
}

std::string TableNote(std::span<const CostSummary> summaries, const Style& style) {
  bool field = false;
  bool unknown = false;
  bool at_least = false;
  bool busy = false;
  for (const CostSummary& summary : summaries) {
    const MetricSummary* time = summary.FindTime();
    if (time == nullptr) continue;
    busy = busy || summary.IsOnlyOfBusyMachines();
    const auto total = TotalOf(summary);
    at_least = at_least || (total && !total->of_all_runs);
    if (time->figures.whose == stats::Whose::kOwn) continue;
    field = true;
    unknown = unknown || !time->figures.mean || !time->figures.quantiles;
  }
  std::vector<std::string> notes;
  if (field) notes.emplace_back("P50 to P99: the typical machine's, with little load at the start");
  if (busy) notes.emplace_back("*: with some load at the start");
  if (at_least) notes.push_back(fmt::format("TOTAL {}: of measured runs only", AtLeast(style)));
  if (unknown) notes.emplace_back("-: most contributions are too old to tell");
  return notes.empty() ? "" : fmt::format("({})\n", fmt::join(notes, "; "));
}

std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const Style& style) {
  return figures.quantiles ? FormatCost((*figures.quantiles.*which).estimate, metric, style)
                           : kUnknown;
}

std::string MachinesText(const stats::Figures& figures) {
  std::string text = fmt::format("each of {} contribution{} counts the same",
                                 FormatCount(figures.machines), figures.machines == 1 ? "" : "s");
  if (figures.machines < figures.contributions) {
    text += fmt::format("; {} older without weight",
                        FormatCount(figures.contributions - figures.machines));
  }
  return text;
}

std::string AllCallsText(const stats::Figures& figures) {
  if (figures.all_calls) return "";
  return figures.few_machines ? fmt::format("left out, {}", kFewMachinesText)
                              : "left out, nothing tells whether a few machines made most of them";
}

// Pads all columns but the last, which may hold colour.
std::string Layout(const std::vector<Line>& lines) {
  const std::size_t columns = lines[0].size();
  std::vector<std::size_t> widths(columns);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i + 1 < columns; ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(line[i].text));
    }
  }
  std::string text;
  for (const Line& line : lines) {
    std::string out;
    for (std::size_t i = 0; i + 1 < columns; ++i) {
      out += line[i].right ? PadLeft(line[i].text, widths[i]) : PadRight(line[i].text, widths[i]);
      out += "  ";
    }
    out += line.back().text;
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

std::string CostTable(std::span<const CostSummary> summaries, const Style& style) {
  std::vector<Line> lines = {HeadingLine()};
  const Twins twins = CountTwins(summaries);
  for (const CostSummary& summary : summaries) lines.push_back(TableLine(summary, twins, style));
  return Layout(lines);
}

std::string CostDetail(const CostSummary& summary, const Style& style) {
  std::string text = NameLine(summary);
  for (const auto& [metric, numbers] : summary.metrics) {
    const stats::Figures& figures = numbers.figures;
    text += fmt::format(
        "\n  {} ({})  {}\n", stats::Name(metric), stats::Unit(metric),
        Spectrum(BarsOf(numbers.sums, numbers.figures, metric), kSpectrumWidth * 2, style));
    text.erase(text.find_last_not_of(" \n") + 1);
    text += "\n" + CountLine(metric, numbers) + TotalLine(metric, summary, style);
    text += MainQuantiles(metric, figures, style);
    if (figures.whose == stats::Whose::kOwn) {
      text +=
          "    " + MeanText(metric, *figures.mean, figures.all_calls->standard_deviation, style);
    } else {
      text += fmt::format("    mean {}\n", FormatCost(figures.mean, metric, style));
      text += "    all calls: ";
      if (figures.all_calls) {
        const stats::CallFigures& calls = *figures.all_calls;
        text += fmt::format("each of {} counts the same\n",
                            FormatCount(numbers.sums.histogram.count()));
        text += QuantileLines(calls.quantiles, metric, style);
        text += "    " + MeanText(metric, calls.mean, calls.standard_deviation, style);
      } else {
        text += AllCallsText(figures) + "\n";
      }
    }
    text += "\n" + Indent(HistogramView(BarsOf(numbers.sums, numbers.figures, metric), style));
  }
  return text;
}

std::string HistogramDetail(const CostSummary& summary, const Style& style) {
  std::string text = NameLine(summary);
  for (const auto& [metric, numbers] : summary.metrics) {
    text += fmt::format("\n  {} ({})\n", stats::Name(metric), stats::Unit(metric));
    text += CountLine(metric, numbers);
    text += MainQuantiles(metric, numbers.figures, style) + "\n";
    text += Indent(HistogramView(BarsOf(numbers.sums, numbers.figures, metric), style));
  }
  return text;
}

std::string SpectrumTable(std::span<const CostSummary> summaries, stats::Metric metric,
                          const Style& style) {
  std::optional<UsedSlots> range;
  for (const CostSummary& summary : summaries) {
    const MetricSummary* numbers = summary.Find(metric);
    if (numbers != nullptr)
      range = Join(range, FindUsedSlots(BarsOf(numbers->sums, numbers->figures, metric)));
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
  for (const CostSummary& summary : summaries) {
    const MetricSummary* numbers = summary.Find(metric);
    if (numbers == nullptr) continue;
    Line line = NameCells(summary.api, twins, style);
    const stats::Figures& figures = numbers->figures;
    line.push_back({FormatCount(figures.calls), true});
    line.push_back({FormatCount(figures.contributions), true});
    for (const auto which : {&stats::Quantiles::p50, &stats::Quantiles::p99}) {
      line.push_back({QuantileText(figures, which, metric, style), true});
    }
    line.push_back({SpectrumOver(BarsOf(numbers->sums, numbers->figures, metric), *range,
                                 kWideSpectrum, style)});
    lines.push_back(std::move(line));
    strata.insert(StrataText(numbers->strata));
  }
  std::string text = Layout(lines);
  text += fmt::format("{}, {}\n", stats::Name(metric),
                      strata.size() == 1 ? *strata.begin() : "different strata: fieldcost show");
  return text + SpectrumLegend(*range, kWideSpectrum, metric, style);
}

}  // namespace fieldcost::report
