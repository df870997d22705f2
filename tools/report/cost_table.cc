#include "tools/report/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

#include "common/base/text.h"
#include "common/stats/field_total.h"
#include "tools/report/numbers.h"
#include "tools/report/spectrum.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kSpectrumWidth = 16;
constexpr std::size_t kWideSpectrum = 32;
constexpr std::size_t kMaxApiWidth = 44;
constexpr std::size_t kMaxLibraryWidth = 28;
constexpr std::size_t kMaxVersionWidth = 22;

const stats::CostHistogram* HistogramOf(const CostSummary& summary, stats::Metric metric) {
  const MetricSummary* numbers = summary.Find(metric);
  return numbers == nullptr ? nullptr : &numbers->histogram;
}

std::optional<std::uint64_t> CallsOf(const CostSummary& summary) {
  return stats::FieldCalls(HistogramOf(summary, stats::Metric::kWallTime),
                           HistogramOf(summary, stats::Metric::kCallsPerRun));
}

double ValueOf(const CostSummary& summary, SortKey key) {
  const MetricSummary* time = summary.Find(stats::Metric::kWallTime);
  if (time == nullptr) return -1;
  switch (key) {
    case SortKey::kCalls:
      return static_cast<double>(CallsOf(summary).value_or(0));
    case SortKey::kP50:
      return time->p50.estimate;
    case SortKey::kP95:
      return time->p95.estimate;
    case SortKey::kP99:
      return time->p99.estimate;
    case SortKey::kMean:
      return time->histogram.Mean();
    case SortKey::kTotal:
      return TotalOf(summary);
  }
  return -1;
}

struct Cell {
  std::string text;
  bool right = false;
};
using Line = std::vector<Cell>;

Line HeadingLine(bool with_machines) {
  Line line = {{"API"},       {"LIBRARY"},   {"VERSION"},   {"CALLS", true}, {"CONTRIB", true},
               {"P50", true}, {"P95", true}, {"P99", true}, {"MEAN", true}};
  if (with_machines) {
    line.insert(line.end(), {{"M-P50", true}, {"M-P95", true}, {"M-P99", true}});
  }
  line.insert(line.end(), {{"ALLOC/CALL", true}, {"SPECTRUM"}});
  return line;
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

Line TableLine(const CostSummary& summary, const Twins& twins, bool with_machines,
               const Style& style) {
  const stats::Metric wall = stats::Metric::kWallTime;
  const MetricSummary* time = summary.Find(wall);
  const MetricSummary* alloc = summary.Find(stats::Metric::kAllocInclusive);
  const std::string none = "-";
  Line line = NameCells(summary.api, twins, style);
  if (time != nullptr) {
    line.push_back({FormatCount(CallsOf(summary).value_or(0)), true});
    line.push_back({FormatCount(time->contributions), true});
    for (const double value :
         {time->p50.estimate, time->p95.estimate, time->p99.estimate, time->histogram.Mean()}) {
      line.push_back({FormatCost(value, wall, style), true});
    }
  } else {
    line.insert(line.end(), 6, Cell{none, true});
    if (const auto calls = CallsOf(summary)) line[3].text = FormatCount(*calls);
    if (alloc != nullptr) line[4].text = FormatCount(alloc->contributions);
  }
  if (with_machines) {
    const bool known = time != nullptr && time->machines != 0;
    const Quantiles machine = known ? time->machine : Quantiles{};
    for (const stats::Quantile& quantile : {machine.p50, machine.p95, machine.p99}) {
      line.push_back({known ? FormatCost(quantile.estimate, wall, style) : none, true});
    }
  }
  line.push_back({alloc == nullptr
                      ? none
                      : FormatCost(alloc->histogram.Mean(), stats::Metric::kAllocInclusive, style),
                  true});
  line.push_back({time == nullptr ? "" : Spectrum(time->histogram, kSpectrumWidth, style)});
  return line;
}

std::string QuantileLine(const char* name, const stats::Quantile& quantile, stats::Metric metric,
                         const Style& style) {
  return fmt::format("    {}  {}  (certainly between {} and {})\n", name,
                     PadLeft(FormatCost(quantile.estimate, metric, style), 8),
                     FormatCost(quantile.low, metric, style),
                     FormatCost(quantile.high, metric, style));
}

std::string QuantileLines(const Quantiles& quantiles, stats::Metric metric, const Style& style) {
  return QuantileLine("p50", quantiles.p50, metric, style) +
         QuantileLine("p95", quantiles.p95, metric, style) +
         QuantileLine("p99", quantiles.p99, metric, style);
}

// What one value of the metric stands for: a run has one number of calls and one first call.
std::string NumberText(stats::Metric metric, const stats::CostHistogram& histogram) {
  const std::uint64_t count = histogram.count();
  const std::string runs = fmt::format("{} run{}", FormatCount(count), count == 1 ? "" : "s");
  if (metric == stats::Metric::kFirstCallTime) return runs;
  if (metric != stats::Metric::kCallsPerRun) return "n " + FormatCount(count);
  const stats::Uint128 most = std::numeric_limits<std::uint64_t>::max();
  const auto calls = static_cast<std::uint64_t>(std::min(histogram.sum(), most));
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

std::string NameLine(const stats::ApiKey& api) {
  std::string text = EscapeControl(stats::DisplayName(api));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {} {}", name, EscapeControl(value));
  };
  add("version", api.package_version);
  add("symbol version", api.symbol_version);
  add("build-id", api.build_id);
  return text + "\n";
}

std::string CountLine(stats::Metric metric, const MetricSummary& numbers) {
  return fmt::format("    {}, {} contribution{}; {}\n", NumberText(metric, numbers.histogram),
                     FormatCount(numbers.contributions), numbers.contributions == 1 ? "" : "s",
                     StrataText(numbers.strata));
}

}  // namespace

double TotalOf(const CostSummary& summary) {
  return stats::FieldTotal(HistogramOf(summary, stats::Metric::kWallTime),
                           HistogramOf(summary, stats::Metric::kCallsPerRun));
}

const MetricSummary* CostSummary::Find(stats::Metric metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? nullptr : &found->second;
}

std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows) {
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
    metric.histogram.Merge(row.histogram);
    metric.weights.Merge(row.weights);
    metric.contributions += row.scalars.contributions;
    metric.strata.Add(row.key);
  }
  std::vector<CostSummary> summaries;
  for (auto& [api, summary] : by_api) {
    for (auto& [number, metric] : summary.metrics) {
      metric.p50 = stats::EstimateQuantile(metric.histogram, 0.50);
      metric.p95 = stats::EstimateQuantile(metric.histogram, 0.95);
      metric.p99 = stats::EstimateQuantile(metric.histogram, 0.99);
      metric.machines = metric.weights.Contributions();
      const auto machine = [&m = metric](double q) {
        return stats::EstimateWeightedQuantile(m.histogram, m.weights, q);
      };
      metric.machine = {machine(0.50), machine(0.95), machine(0.99)};
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
                     return std::make_tuple(-ValueOf(a, key), std::cref(a.api)) <
                            std::make_tuple(-ValueOf(b, key), std::cref(b.api));
                   });
}

bool HasMachines(std::span<const CostSummary> summaries) {
  return std::any_of(summaries.begin(), summaries.end(), [](const CostSummary& summary) {
    const MetricSummary* time = summary.Find(stats::Metric::kWallTime);
    return time != nullptr && time->machines != 0;
  });
}

std::string MachinesText(const MetricSummary& summary) {
  std::string text = fmt::format("each of {} contribution{} counts the same",
                                 FormatCount(summary.machines), summary.machines == 1 ? "" : "s");
  if (summary.machines < summary.contributions) {
    text += fmt::format("; {} older without weight",
                        FormatCount(summary.contributions - summary.machines));
  }
  return text;
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
  const bool with_machines = HasMachines(summaries);
  std::vector<Line> lines = {HeadingLine(with_machines)};
  const Twins twins = CountTwins(summaries);
  for (const CostSummary& summary : summaries) {
    lines.push_back(TableLine(summary, twins, with_machines, style));
  }
  return Layout(lines);
}

std::string CostDetail(const CostSummary& summary, const Style& style) {
  std::string text = NameLine(summary.api);
  for (const auto& [metric, numbers] : summary.metrics) {
    const stats::CostHistogram& histogram = numbers.histogram;
    text += fmt::format("\n  {} ({})  {}\n", stats::Name(metric), stats::Unit(metric),
                        Spectrum(histogram, kSpectrumWidth * 2, style));
    text.erase(text.find_last_not_of(" \n") + 1);
    text += "\n" + CountLine(metric, numbers);
    if (numbers.machines != 0) text += "    typical call: every call counts the same\n";
    text += QuantileLines({numbers.p50, numbers.p95, numbers.p99}, metric, style);
    if (numbers.machines != 0) {
      text += fmt::format("    typical machine: {}\n", MachinesText(numbers));
      text += QuantileLines(numbers.machine, metric, style);
    }
    text += fmt::format("    mean {}{}, standard deviation {}\n\n",
                        numbers.machines != 0 ? "of calls " : "",
                        FormatCost(histogram.Mean(), metric, style),
                        FormatCost(histogram.StandardDeviation(), metric, style));
    text += Indent(HistogramView(histogram, style));
  }
  return text;
}

std::string HistogramDetail(const CostSummary& summary, const Style& style) {
  std::string text = NameLine(summary.api);
  for (const auto& [metric, numbers] : summary.metrics) {
    text += fmt::format("\n  {} ({})\n", stats::Name(metric), stats::Unit(metric));
    text += CountLine(metric, numbers);
    text += QuantileLines({numbers.p50, numbers.p95, numbers.p99}, metric, style) + "\n";
    text += Indent(HistogramView(numbers.histogram, style));
  }
  return text;
}

std::string SpectrumTable(std::span<const CostSummary> summaries, stats::Metric metric,
                          const Style& style) {
  std::optional<UsedSlots> range;
  for (const CostSummary& summary : summaries) {
    const MetricSummary* numbers = summary.Find(metric);
    if (numbers != nullptr) range = Join(range, FindUsedSlots(numbers->histogram));
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
    line.push_back({FormatCount(numbers->histogram.count()), true});
    line.push_back({FormatCount(numbers->contributions), true});
    line.push_back({FormatCost(numbers->p50.estimate, metric, style), true});
    line.push_back({FormatCost(numbers->p99.estimate, metric, style), true});
    line.push_back({SpectrumOver(numbers->histogram, *range, kWideSpectrum, style)});
    lines.push_back(std::move(line));
    strata.insert(StrataText(numbers->strata));
  }
  std::string text = Layout(lines);
  text += fmt::format("{}, {}\n", stats::Name(metric),
                      strata.size() == 1 ? *strata.begin() : "different strata: fieldcost show");
  return text + SpectrumLegend(*range, kWideSpectrum, metric, style);
}

}  // namespace fieldcost::report
