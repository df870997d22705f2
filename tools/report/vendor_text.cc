#include "tools/report/vendor_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "tools/report/csv.h"
#include "tools/report/figure_text.h"
#include "tools/report/trend_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using stats::Metric;
using Lines = std::vector<std::vector<draw::TextCell>>;

constexpr std::size_t kMaxNameWidth = 44;
constexpr std::size_t kMaxVersionWidth = 22;
constexpr std::size_t kSpectrumWidth = 16;

std::string ShortName(const analysis::VendorApi& api, const draw::Style& style) {
  return draw::Shorten(api.name, kMaxNameWidth, style);
}

std::string Libraries(const analysis::VendorReport& report, const draw::Style& style) {
  std::string text;
  for (const analysis::VendorLibrary& library : report.libraries) {
    text += EscapeControl(library.soname) + ": ";
    for (std::size_t i = 0; i < library.versions.size(); ++i) {
      text += (i == 0 ? "versions " : ", ") + EscapeControl(library.versions[i]);
    }
    text += library.before.empty()
                ? "; nothing to compare with\n"
                : fmt::format("; changes {} {} {}\n", EscapeControl(library.before),
                              style.utf8 ? "→" : "->", EscapeControl(library.after));
  }
  return text;
}

std::string Groups(const analysis::VendorReport& report, const draw::Style& style) {
  Lines lines = {{{"GROUP"},
                  {"APIS", true},
                  {"CALLS", true},
                  {"TOTAL", true},
                  {"SHARE", true},
                  {"CONTRIB", true},
                  {"SLOWER", true},
                  {"FASTER", true},
                  {"SAME", true},
                  {"LITTLE DATA", true},
                  {"RATIO", true},
                  {"95 %", true},
                  {"Q", true},
                  {"CHANGE"}}};
  for (const analysis::VendorGroup& group : report.groups) {
    const bool compared = group.change != analysis::Change::kTooLittleData;
    lines.push_back(
        {{draw::Shorten(analysis::NameOf(group), kMaxNameWidth, style)},
         {draw::FormatCount(group.apis), true},
         {draw::FormatCount(group.calls), true},
         {draw::TotalText(group.total, style), true},
         {ShareText(group.share), true},
         {draw::FormatCount(group.contributions), true},
         {draw::FormatCount(group.slower), true},
         {draw::FormatCount(group.faster), true},
         {draw::FormatCount(group.unchanged), true},
         {draw::FormatCount(group.too_little), true},
         {compared ? fmt::format("{:.2f}", group.ratio) : "-", true},
         {compared ? fmt::format("{:.2f}..{:.2f}", group.ratio_low, group.ratio_high) : "-", true},
         {compared ? ProbabilityText(group.q) : "-", true},
         {std::string(Name(group.change, Metric::kWallTime))}});
  }
  return draw::TextTable(lines);
}

std::string Dearest(const analysis::VendorReport& report, const draw::Style& style) {
  Lines lines = {{{"API"},
                  {"LIBRARY"},
                  {"VERSION"},
                  {"CALLS", true},
                  {"CONTRIB", true},
                  {"TOTAL", true},
                  {"SHARE", true},
                  {"P50", true},
                  {"P95", true},
                  {"P99", true},
                  {"ALLOC/CALL", true},
                  {"VERSIONS"}}};
  const bool weeks = report.HasWeeks();
  if (weeks) lines[0].push_back({"WEEKS"});
  lines[0].push_back({"SPECTRUM"});
  const draw::Style plain{.utf8 = style.utf8};
  for (std::size_t i = 0; i < std::min(report.apis.size(), kMaxTextApis); ++i) {
    const analysis::VendorApi& api = report.apis[i];
    const auto cost = [&](stats::Quantile stats::Quantiles::*which) -> draw::TextCell {
      return {QuantileText(api.time, which, Metric::kWallTime, style), true};
    };
    lines.push_back(
        {{ShortName(api, style)},
         {EscapeControl(report.libraries[api.library].soname)},
         {draw::Shorten(api.version, kMaxVersionWidth, style)},
         {draw::FormatCount(api.calls), true},
         {draw::FormatCount(api.contributions), true},
         {draw::TotalText(api.total, style), true},
         {ShareText(api.share), true},
         cost(&stats::Quantiles::p50),
         cost(&stats::Quantiles::p95),
         cost(&stats::Quantiles::p99),
         {api.alloc_mean ? draw::FormatCost(*api.alloc_mean, Metric::kAllocInclusive, style) : "-",
          true},
         {TrendLine(api.versions, plain)}});
    if (weeks) lines.back().push_back({TrendLine(api.weeks, plain)});
    lines.back().push_back({draw::Spectrum(api.bars, kSpectrumWidth, style)});
  }
  std::string text = draw::TextTable(lines);
  if (report.apis.size() > kMaxTextApis) {
    text += fmt::format("({} of {} APIs; all: --format csv)\n", kMaxTextApis,
                        draw::FormatCount(report.apis.size()));
  }
  return text;
}

std::string Changes(const analysis::VendorReport& report, const draw::Style& style) {
  std::vector<analysis::ChangedApi> found = analysis::WithChange(report, analysis::Change::kMore);
  const std::vector<analysis::ChangedApi> faster =
      analysis::WithChange(report, analysis::Change::kLess);
  found.insert(found.end(), faster.begin(), faster.end());
  if (found.empty()) return "none is shown\n";
  Lines lines = {{{"CHANGE"},
                  {"API"},
                  {"LIBRARY"},
                  {"METRIC"},
                  {"P50", true},
                  {"THEN", true},
                  {"RATIO [95 %]", true},
                  {"DELTA", true},
                  {"P", true},
                  {"Q", true},
                  {"COSTS MORE", true},
                  {"COMPARED"}}};
  for (const auto& [api, one] : found) {
    const auto regression = one->metric == Metric::kWallTime ? api->Regression() : std::nullopt;
    lines.push_back({{std::string(Name(one->change, one->metric))},
                     {ShortName(*api, style)},
                     {EscapeControl(report.libraries[api->library].soname)},
                     {std::string(stats::Name(one->metric))},
                     {QuantileText(one->before, &stats::Quantiles::p50, one->metric, style), true},
                     {QuantileText(one->after, &stats::Quantiles::p50, one->metric, style), true},
                     {RatioText(*one), true},
                     {fmt::format("{:.2f}", one->delta), true},
                     {ProbabilityText(one->test.p), true},
                     {ProbabilityText(one->q), true},
                     {draw::TotalText(regression, style), true},
                     {ComparedText(*one)}});
  }
  return draw::TextTable(lines);
}

std::optional<double> NsOf(const std::optional<stats::FieldCost>& cost) {
  return cost ? std::optional(cost->ns) : std::nullopt;
}

void AddTotal(const std::optional<stats::FieldCost>& total, CsvWriter& csv) {
  csv.Known(NsOf(total));
  if (total && total->of_all_runs) {
    csv.Number(total->standard_error_ns);
  } else {
    csv.Empty();
  }
  csv.Text(total ? draw::RunsText(*total) : "");
}

void AddChange(const analysis::VendorApi& api, CsvWriter& csv) {
  const analysis::MetricChange* time = api.Time();
  if (time == nullptr || time->test.strata == 0) {
    csv.Text(time == nullptr ? "" : Name(time->change, time->metric));
    for (int i = 0; i < 6; ++i) csv.Empty();
  } else {
    csv.Text(Name(time->change, time->metric));
    csv.Number(time->ratio).Number(time->ratio_low).Number(time->ratio_high);
    csv.Number(time->delta).Number(time->test.p).Number(time->q);
  }
  csv.Known(NsOf(api.Regression()));
  std::string others;
  for (const analysis::MetricChange& one : api.changes) {
    if (&one == time ||
        (one.change != analysis::Change::kMore && one.change != analysis::Change::kLess))
      continue;
    others += fmt::format("{}{} {} {:.2f}", others.empty() ? "" : "|", stats::Name(one.metric),
                          Name(one.change, one.metric), one.ratio);
  }
  csv.Text(others);
}

}  // namespace

std::string ShareText(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.095) return "<0.1 %";
  return percent >= 9.95 || percent == 0 ? fmt::format("{:.0f} %", percent)
                                         : fmt::format("{:.2g} %", percent);
}

std::string VendorText(const analysis::VendorReport& report, const draw::Style& style) {
  std::string text =
      fmt::format("{}: {} APIs, {} calls, {} in all\n", EscapeControl(report.title),
                  draw::FormatCount(report.apis.size()), draw::FormatCount(report.calls),
                  draw::TotalText(report.total, style));
  text += Libraries(report, style);
  if (report.apis.empty()) return text;
  text += "\nGroups, the dearest first\n" + Groups(report, style);
  text += "\nAPIs, the dearest first: candidates for improvement\n" + Dearest(report, style);
  text += "\nChanges between the versions\n";
  text += Changes(report, style);
  text += fmt::format("(q over {} comparisons)\n", draw::FormatCount(report.compared));
  return text;
}

std::string VendorCsv(const analysis::VendorReport& report, const Provenance& provenance) {
  std::vector<std::string_view> columns = {
      "library",       "symbol",   "symbol_version",          "name",     "namespace",
      "calls",         "total_ns", "total_standard_error_ns", "total_of", "share",
      "contributions", "version",  "version_contributions"};
  const std::vector<std::string_view> figures = FigureColumns();
  columns.insert(columns.end(), figures.begin(), figures.end());
  columns.insert(columns.end(), {"alloc_mean", "before", "after", "change", "ratio", "ratio_low",
                                 "ratio_high", "delta", "p", "q", "regression_ns", "other_changes",
                                 "source", "snapshot", "published", "expired", "synthetic"});
  CsvWriter csv(columns);
  for (const analysis::VendorApi& api : report.apis) {
    const analysis::VendorLibrary& library = report.libraries[api.library];
    csv.Text(library.soname).Text(api.symbol).Text(api.symbol_version).Text(api.name);
    csv.Text(api.group).Known(api.calls);
    AddTotal(api.total, csv);
    csv.Number(api.share);
    csv.Count(api.contributions).Text(api.version);
    if (api.version.empty()) {
      for (std::size_t i = 0; i <= figures.size(); ++i) csv.Empty();
    } else {
      csv.Count(api.time.contributions);
      AddFigures(csv, api.time);
    }
    csv.Known(api.alloc_mean);
    csv.Text(library.before).Text(library.after);
    AddChange(api, csv);
    csv.Text(provenance.source).Count(provenance.snapshot).Text(provenance.published);
    csv.Flag(provenance.expired).Flag(provenance.synthetic).EndRecord();
  }
  return csv.text();
}

}  // namespace fieldcost::report
