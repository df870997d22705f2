#include "tools/report/version_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/inference/anomaly.h"
#include "common/names/cxx_name.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

using inference::Verdict;

constexpr std::size_t kMaxChangedName = 44;
constexpr std::size_t kLeastChangedName = 20;
constexpr std::size_t kMaxNames = 12;  // of APIs in only one version
constexpr std::array<Verdict, 4> kChanges = {Verdict::kMore, Verdict::kLess, Verdict::kNone,
                                             Verdict::kTooLittleData};
constexpr draw::Rgb kMoreColor{230, 60, 40};
constexpr draw::Rgb kLessColor{40, 160, 60};

double Strength(const analysis::MetricChange& change) { return std::abs(change.test.octaves); }

const std::vector<draw::TextColumn>& ChangeColumns() {
  static const std::vector<draw::TextColumn> columns = {{"CHANGE"},
                                                        {"API", false, 0, kLeastChangedName, true},
                                                        {"METRIC"},
                                                        {"P50 OLD", true, 1},
                                                        {"NEW", true, 1},
                                                        {"MACHINES OLD", true, 4},
                                                        {"NEW", true, 5},
                                                        {"RATIO", true},
                                                        {"95 %", true, 2},
                                                        {"DELTA", true, 6},
                                                        {"P", true, 7},
                                                        {"Q", true, 3},
                                                        {"COMPARED", false, 8}};
  return columns;
}

std::string Painted(const analysis::MetricChange& change, const draw::Style& style) {
  const std::string name(analysis::Words(change.change, change.metric));
  if (change.change == Verdict::kMore) return draw::Paint(name, kMoreColor, style.color);
  if (change.change == Verdict::kLess) return draw::Paint(name, kLessColor, style.color);
  return name;
}

draw::TextLine Line(const ChangedMetric& changed, const draw::Style& style) {
  const analysis::MetricChange& change = *changed.metric;
  const bool compared = change.test.strata > 0;
  const auto p50 = [&](const stats::Figures& figures) {
    return QuantileText(figures, &stats::Quantiles::p50, change.metric, style);
  };
  const auto number = [&](double value) { return compared ? fmt::format("{:.2f}", value) : "-"; };
  std::string symbol = names::ShortName(changed.api->symbol);
  if (!changed.api->symbol_version.empty()) symbol += "@" + changed.api->symbol_version;
  return {Painted(change, style),
          draw::ShortenName(symbol, kMaxChangedName, style),
          std::string(stats::Name(change.metric)),
          p50(change.before),
          p50(change.after),
          draw::FormatCount(change.test.machines_before),
          draw::FormatCount(change.test.machines_after),
          number(change.ratio),
          compared ? ConfidenceText(change) : "-",
          number(change.delta),
          compared ? ProbabilityText(change.test.p) : "-",
          change.eligible() ? ProbabilityText(change.q) : "-",
          compared ? ComparedText(change) : "-"};
}

std::string SymbolsText(std::string_view about, const std::vector<std::string>& symbols) {
  if (symbols.empty()) return "";
  std::string text = fmt::format("{} ({}):", about, draw::FormatCount(symbols.size()));
  for (std::size_t i = 0; i < std::min(symbols.size(), kMaxNames); ++i) {
    text += (i == 0 ? " " : ", ") + EscapeControl(symbols[i]);
  }
  return text + (symbols.size() > kMaxNames ? ", ...\n" : "\n");
}

// Wall time, or the metric compared instead.
stats::Metric MetricOf(const analysis::LibraryChange& change) {
  std::optional<stats::Metric> other;
  for (const analysis::ApiChange& api : change.apis) {
    if (api.Find(stats::Metric::kWallTime) != nullptr) return stats::Metric::kWallTime;
    if (!api.metrics.empty()) other = api.metrics.front().metric;
  }
  return other.value_or(stats::Metric::kWallTime);
}

}  // namespace

std::string CountsText(const ChangeCounts& counts, stats::Metric metric) {
  const auto verb = [&](Verdict kind, std::uint64_t apis) {
    const std::string_view name = analysis::Words(kind, metric);
    const bool is_amount = name == "more" || name == "less";
    return fmt::format("{} {}",
                       is_amount   ? apis == 1 ? "takes" : "take"
                       : apis == 1 ? "is"
                                   : "are",
                       name);
  };
  return fmt::format("{} of {} {}, {} {}", draw::FormatCount(counts.more),
                     Counted(counts.all, "API"), verb(Verdict::kMore, counts.more),
                     draw::FormatCount(counts.less), verb(Verdict::kLess, counts.less));
}

std::string ChangeWords(Verdict change, stats::Metric metric, double ratio,
                        const draw::Style& style) {
  const std::string_view name = analysis::Words(change, metric);
  const bool more = change == Verdict::kMore;
  if ((!more && change != Verdict::kLess) || ratio <= 0) return std::string(name);
  return fmt::format("{:.1f} {} {}", more ? ratio : 1 / ratio, style.utf8 ? "×" : "x", name);
}

std::string ConfidenceText(const analysis::MetricChange& change) {
  return fmt::format("{:.2f}..{:.2f}", change.ratio_low, change.ratio_high);
}

std::string RatioText(const analysis::MetricChange& change) {
  if (change.test.strata == 0) return "-";
  return fmt::format("{:.2f}x [{:.2f}x, {:.2f}x]", change.ratio, change.ratio_low,
                     change.ratio_high);
}

std::string ProbabilityText(double p) {
  return p >= 0.0995 ? fmt::format("{:.2f}", p) : fmt::format("{:.1e}", p);
}

std::string ComparedText(const analysis::MetricChange& change) {
  std::string text = change.classes == 0 ? "all classes together"
                                         : "within " + Counted(change.classes, "hardware class",
                                                               "hardware classes");
  return text;
}

std::vector<ChangedMetric> WithChange(const analysis::LibraryChange& change, Verdict wanted) {
  std::vector<ChangedMetric> found;
  for (const analysis::ApiChange& api : change.apis) {
    for (const analysis::MetricChange& metric : api.metrics) {
      if (metric.change == wanted) found.push_back({&api, &metric});
    }
  }
  if (IsChange(wanted)) {
    std::ranges::stable_sort(found, [](const ChangedMetric& a, const ChangedMetric& b) {
      return Strength(*a.metric) > Strength(*b.metric);
    });
  }
  return found;
}

std::string DiffSentence(const analysis::LibraryChange& change, const draw::Style& style) {
  const stats::Metric metric = MetricOf(change);
  const std::string text = CountsText({.more = change.Count(metric, Verdict::kMore),
                                       .less = change.Count(metric, Verdict::kLess),
                                       .all = change.apis.size()},
                                      metric);
  for (const Verdict kind : {Verdict::kMore, Verdict::kLess}) {
    for (const auto& [api, one] : WithChange(change, kind)) {
      if (one->metric != metric) continue;
      return fmt::format("{}; most: {}, {}", text, EscapeControl(names::ShortName(api->symbol)),
                         ChangeWords(*one, style));
    }
  }
  return text;
}

std::string DiffText(const analysis::LibraryChange& change, bool all, const draw::Style& style) {
  std::string text =
      fmt::format("{}: {} {} {}\n", EscapeControl(change.soname), EscapeControl(change.before),
                  style.utf8 ? "→" : "->", EscapeControl(change.after));
  text += DiffSentence(change, style) + ".\n";
  std::vector<draw::TextLine> lines;
  std::string others;
  std::size_t compared = 0;
  bool mixed = false;
  // Lists the changes; counts the rest by kind unless all are requested.
  for (const Verdict kind : kChanges) {
    const std::vector<ChangedMetric> found = WithChange(change, kind);
    if (kind != Verdict::kTooLittleData) compared += found.size();
    for (const ChangedMetric& one : found) {
      mixed = mixed || (one.metric->eligible() && one.metric->classes == 0);
    }
    if (all || IsChange(kind)) {
      for (const ChangedMetric& one : found) lines.push_back(Line(one, style));
    } else if (!found.empty()) {
      others += fmt::format("{}{}: {}", others.empty() ? "" : "; ",
                            analysis::Words(kind, stats::Metric::kWallTime),
                            draw::FormatCount(found.size()));
    }
  }
  if (lines.empty()) {
    text += "no significant changes\n";
  } else {
    text += draw::TextTable(ChangeColumns(), lines, style);
  }
  // Below the table: the number of functions not listed, and how to read the table.
  if (!others.empty()) text += others + " (--all lists them)\n";
  text += SymbolsText("measured in the new version only", change.added);
  text += SymbolsText("measured in the old version only", change.removed);
  text += fmt::format(
      "(machines of the fullest quarter; ratio of their geometric means, of all weeks, with the 95 "
      "% confidence of that quarter; Cliff's delta; two-sided p of machines, q over {} "
      "comparisons; a "
      "change is q <= {}, |delta| >= {} and ratio >= {} or <= {})\n",
      draw::FormatCount(compared), inference::kFieldThresholds.false_share,
      inference::kFieldThresholds.least_delta, inference::kFieldThresholds.least_ratio,
      1 / inference::kFieldThresholds.least_ratio);
  if (mixed) {
    text +=
        "(all classes together: no numbers of single hardware classes are published for both "
        "versions, so another mix of machines can look like a change)\n";
  }
  return text;
}

namespace {

struct DiffRecord {
  const analysis::LibraryChange* library = nullptr;
  const analysis::ApiChange* api = nullptr;
  const analysis::MetricChange* one = nullptr;
};

// NAME_before and NAME_after.
template <typename Put>
void AddBothSides(CsvColumns<DiffRecord>& columns, const std::string& name, Put put) {
  columns.push_back({name + "_before", [put](CsvWriter& csv, const DiffRecord& r) {
                       put(csv, r.one->before, r.api->calls_before);
                     }});
  columns.push_back({name + "_after", [put](CsvWriter& csv, const DiffRecord& r) {
                       put(csv, r.one->after, r.api->calls_after);
                     }});
}

void AddSideColumns(CsvColumns<DiffRecord>& columns) {
  using Calls = std::optional<std::uint64_t>;
  using F = stats::Figures;
  AddBothSides(columns, "calls",
               [](CsvWriter& csv, const F&, const Calls& calls) { csv.Known(calls); });
  AddBothSides(columns, "contributions",
               [](CsvWriter& csv, const F& side, const Calls&) { csv.Count(side.contributions); });
  AddBothSides(columns, "count",
               [](CsvWriter& csv, const F& side, const Calls&) { csv.Known(side.calls); });
  AddBothSides(columns, "mean",
               [](CsvWriter& csv, const F& side, const Calls&) { csv.Known(side.mean); });
  const auto add_quantile = [&](const char* name, stats::Quantile stats::Quantiles::*which) {
    AddBothSides(columns, name, [which](CsvWriter& csv, const F& side, const Calls&) {
      side.quantiles ? csv.Number((*side.quantiles.*which).estimate) : csv.Empty();
    });
  };
  add_quantile("p50", &stats::Quantiles::p50);
  add_quantile("p95", &stats::Quantiles::p95);
  add_quantile("p99", &stats::Quantiles::p99);
  AddBothSides(columns, "few_machines",
               [](CsvWriter& csv, const F& side, const Calls&) { csv.Flag(side.few_machines); });
}

void AddTestColumns(CsvColumns<DiffRecord>& columns) {
  using M = analysis::MetricChange;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const M&)) {
    columns.push_back({name, [put](CsvWriter& csv, const DiffRecord& r) { put(csv, *r.one); }});
  };
  // Empty if nothing was compared.
  const auto add_compared = [&](const char* name, double (*value)(const M&)) {
    columns.push_back({name, [value](CsvWriter& csv, const DiffRecord& r) {
                         r.one->test.strata > 0 ? csv.Number(value(*r.one)) : csv.Empty();
                       }});
  };
  add_compared("ratio", [](const M& one) { return one.ratio; });
  add_compared("ratio_low", [](const M& one) { return one.ratio_low; });
  add_compared("ratio_high", [](const M& one) { return one.ratio_high; });
  add_compared("delta", [](const M& one) { return one.delta; });
  add_compared("p", [](const M& one) { return one.test.p; });
  add("q", [](CsvWriter& csv, const M& one) { one.eligible() ? csv.Number(one.q) : csv.Empty(); });
  add("classes", [](CsvWriter& csv, const M& one) { csv.Count(one.classes); });
  add("machines_before", [](CsvWriter& csv, const M& one) { csv.Count(one.test.machines_before); });
  add("machines_after", [](CsvWriter& csv, const M& one) { csv.Count(one.test.machines_after); });
}

}  // namespace

std::string DiffCsv(const analysis::LibraryChange& change, const Provenance& provenance) {
  using Record = DiffRecord;
  CsvColumns<Record> columns;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Record&)) {
    columns.push_back({name, put});
  };
  add("library", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->soname); });
  add("before", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->before); });
  add("after", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->after); });
  add("symbol", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->symbol); });
  add("symbol_version", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->symbol_version); });
  add("metric", [](CsvWriter& csv, const Record& r) { csv.Text(stats::Name(r.one->metric)); });
  add("unit", [](CsvWriter& csv, const Record& r) { csv.Text(stats::Unit(r.one->metric)); });
  add("change", [](CsvWriter& csv, const Record& r) {
    csv.Text(analysis::Words(r.one->change, r.one->metric));
  });
  AddSideColumns(columns);
  AddTestColumns(columns);
  AddProvenanceColumns(columns, provenance);
  std::vector<Record> records;
  for (const analysis::ApiChange& api : change.apis) {
    for (const analysis::MetricChange& one : api.metrics) records.push_back({&change, &api, &one});
  }
  return CsvOf(columns, records);
}

}  // namespace fieldcost::report
