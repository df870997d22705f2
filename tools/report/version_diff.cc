#include "tools/report/version_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/stats/anomaly.h"
#include "tools/analysis/namespace_of.h"
#include "tools/report/csv.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kMaxNameWidth = 44;
constexpr std::size_t kMaxNames = 12;  // of APIs that only one version has
constexpr std::array<analysis::Change, 4> kChanges = {
    analysis::Change::kMore, analysis::Change::kLess, analysis::Change::kNone,
    analysis::Change::kTooLittleData};
constexpr draw::Rgb kMoreColor{230, 60, 40};
constexpr draw::Rgb kLessColor{40, 160, 60};

double Strength(const analysis::MetricChange& change) { return std::abs(change.test.octaves); }

std::vector<draw::TextCell> HeadingLine() {
  return {{"CHANGE"},         {"API"},        {"METRIC"},      {"P50", true},  {"THEN", true},
          {"MACHINES", true}, {"THEN", true}, {"RATIO", true}, {"95 %", true}, {"DELTA", true},
          {"P", true},        {"Q", true},    {"COMPARED"}};
}

std::string Painted(const analysis::MetricChange& change, const draw::Style& style) {
  const std::string name(Name(change.change, change.metric));
  if (change.change == analysis::Change::kMore) return draw::Paint(name, kMoreColor, style.color);
  if (change.change == analysis::Change::kLess) return draw::Paint(name, kLessColor, style.color);
  return name;
}

// The change's name, painted after the table is laid out: colour has no width.
std::vector<draw::TextCell> Line(const ChangedMetric& changed, const draw::Style& style) {
  const analysis::MetricChange& change = *changed.metric;
  const bool compared = change.test.strata > 0;
  const auto p50 = [&](const stats::Figures& figures) {
    return QuantileText(figures, &stats::Quantiles::p50, change.metric, style);
  };
  const auto number = [&](double value) { return compared ? fmt::format("{:.2f}", value) : "-"; };
  std::string symbol = analysis::DemangledName(changed.api->symbol);
  if (!changed.api->symbol_version.empty()) symbol += "@" + changed.api->symbol_version;
  return {
      {std::string(Name(change.change, change.metric))},
      {draw::Shorten(symbol, kMaxNameWidth, style)},
      {std::string(stats::Name(change.metric))},
      {p50(change.before), true},
      {p50(change.after), true},
      {draw::FormatCount(change.test.machines_before), true},
      {draw::FormatCount(change.test.machines_after), true},
      {number(change.ratio), true},
      {compared ? fmt::format("{:.2f}..{:.2f}", change.ratio_low, change.ratio_high) : "-", true},
      {number(change.delta), true},
      {compared ? ProbabilityText(change.test.p) : "-", true},
      {change.eligible() ? ProbabilityText(change.q) : "-", true},
      {compared ? ComparedText(change) : "-"}};
}

std::string Names(std::string_view about, const std::vector<std::string>& symbols) {
  if (symbols.empty()) return "";
  std::string text = fmt::format("{} ({}):", about, draw::FormatCount(symbols.size()));
  for (std::size_t i = 0; i < std::min(symbols.size(), kMaxNames); ++i) {
    text += (i == 0 ? " " : ", ") + EscapeControl(symbols[i]);
  }
  return text + (symbols.size() > kMaxNames ? ", ...\n" : "\n");
}

}  // namespace

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
                                         : fmt::format("within {} hardware class{}", change.classes,
                                                       change.classes == 1 ? "" : "es");
  return text;
}

std::vector<ChangedMetric> WithChange(const analysis::LibraryChange& change,
                                      analysis::Change wanted) {
  std::vector<ChangedMetric> found;
  for (const analysis::ApiChange& api : change.apis) {
    for (const analysis::MetricChange& metric : api.metrics) {
      if (metric.change == wanted) found.push_back({&api, &metric});
    }
  }
  if (wanted == analysis::Change::kMore || wanted == analysis::Change::kLess) {
    std::ranges::stable_sort(found, [](const ChangedMetric& a, const ChangedMetric& b) {
      return Strength(*a.metric) > Strength(*b.metric);
    });
  }
  return found;
}

std::string DiffText(const analysis::LibraryChange& change, bool all, const draw::Style& style) {
  std::string text =
      fmt::format("{}: {} {} {}\n", EscapeControl(change.soname), EscapeControl(change.before),
                  style.utf8 ? "→" : "->", EscapeControl(change.after));
  std::vector<std::vector<draw::TextCell>> lines = {HeadingLine()};
  std::vector<const analysis::MetricChange*> shown;
  std::string others;
  std::size_t compared = 0;
  bool mixed = false;
  for (const analysis::Change kind : kChanges) {
    const std::vector<ChangedMetric> found = WithChange(change, kind);
    if (kind != analysis::Change::kTooLittleData) compared += found.size();
    for (const ChangedMetric& one : found) {
      mixed = mixed || (one.metric->eligible() && one.metric->classes == 0);
    }
    if (all || kind == analysis::Change::kMore || kind == analysis::Change::kLess) {
      for (const ChangedMetric& one : found) {
        lines.push_back(Line(one, style));
        shown.push_back(one.metric);
      }
    } else if (!found.empty()) {
      others += fmt::format("{}{}: {}", others.empty() ? "" : "; ",
                            Name(kind, stats::Metric::kWallTime), draw::FormatCount(found.size()));
    }
  }
  if (shown.empty()) {
    text += "nothing is shown to have changed\n";
  } else {
    const std::string table = draw::TextTable(lines);
    std::size_t begin = table.find('\n') + 1;
    text += table.substr(0, begin);
    for (const analysis::MetricChange* metric : shown) {
      const std::size_t end = table.find('\n', begin) + 1;
      const std::size_t name = Name(metric->change, metric->metric).size();
      text += Painted(*metric, style) + table.substr(begin + name, end - begin - name);
      begin = end;
    }
  }
  if (!others.empty()) text += others + " (--all lists them)\n";
  text += Names("measured in the new version only", change.added);
  text += Names("measured in the old version only", change.removed);
  text += fmt::format(
      "(machines of the fullest week; ratio of their geometric means, of all weeks, with the 95 % "
      "confidence of that week; Cliff's delta; two-sided p of machines, q over {} comparisons; a "
      "change is q <= {}, |delta| >= {} and ratio >= {} or "
      "<= "
      "{})\n",
      draw::FormatCount(compared), stats::kFalseDiscoveries, stats::kLeastDelta, stats::kLeastRatio,
      1 / stats::kLeastRatio);
  if (mixed) {
    text +=
        "(all classes together: no numbers of single hardware classes are published for both "
        "versions, so another mix of machines can look like a change)\n";
  }
  return text;
}

std::string DiffCsv(const analysis::LibraryChange& change, const Provenance& provenance) {
  CsvWriter csv({"library",
                 "before",
                 "after",
                 "symbol",
                 "symbol_version",
                 "metric",
                 "unit",
                 "change",
                 "calls_before",
                 "calls_after",
                 "contributions_before",
                 "contributions_after",
                 "count_before",
                 "count_after",
                 "mean_before",
                 "mean_after",
                 "p50_before",
                 "p50_after",
                 "p95_before",
                 "p95_after",
                 "p99_before",
                 "p99_after",
                 "few_machines_before",
                 "few_machines_after",
                 "ratio",
                 "ratio_low",
                 "ratio_high",
                 "delta",
                 "p",
                 "q",
                 "classes",
                 "machines_before",
                 "machines_after",
                 "source",
                 "snapshot",
                 "published",
                 "expired",
                 "synthetic"});
  for (const analysis::ApiChange& api : change.apis) {
    for (const analysis::MetricChange& one : api.metrics) {
      csv.Text(change.soname).Text(change.before).Text(change.after);
      csv.Text(api.symbol).Text(api.symbol_version);
      csv.Text(stats::Name(one.metric)).Text(stats::Unit(one.metric));
      csv.Text(Name(one.change, one.metric));
      for (const auto& calls : {api.calls_before, api.calls_after}) csv.Known(calls);
      csv.Count(one.before.contributions).Count(one.after.contributions);
      for (const auto side : {&one.before, &one.after}) csv.Known(side->calls);
      for (const auto side : {&one.before, &one.after}) csv.Known(side->mean);
      for (const auto which :
           {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
        for (const auto side : {&one.before, &one.after}) {
          side->quantiles ? csv.Number((*side->quantiles.*which).estimate) : csv.Empty();
        }
      }
      csv.Flag(one.before.few_machines).Flag(one.after.few_machines);
      if (one.test.strata > 0) {
        csv.Number(one.ratio).Number(one.ratio_low).Number(one.ratio_high).Number(one.delta);
        csv.Number(one.test.p);
      } else {
        csv.Empty().Empty().Empty().Empty().Empty();
      }
      one.eligible() ? csv.Number(one.q) : csv.Empty();
      csv.Count(one.classes).Count(one.test.machines_before).Count(one.test.machines_after);
      csv.Text(provenance.source);
      csv.Count(provenance.snapshot).Text(provenance.published);
      csv.Flag(provenance.expired).Flag(provenance.synthetic).EndRecord();
    }
  }
  return csv.text();
}

}  // namespace fieldcost::report
