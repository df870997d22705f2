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

}  // namespace

std::string WaitingText(const analysis::VendorReport& report) {
  if (report.waiting.empty()) return "";
  std::string names;
  for (const analysis::VendorApi& api : report.waiting) {
    names += (names.empty() ? "" : ", ") + EscapeControl(api.symbol);
  }
  return fmt::format("waiting: {} function{} set apart, since the time is no cost: {}\n",
                     report.waiting.size(), report.waiting.size() == 1 ? "" : "s", names);
}

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
  text += WaitingText(report);
  if (report.apis.empty()) return text;
  text += "\nGroups, the most expensive first\n" + Groups(report, style);
  text += "\nAPIs, the most expensive first: candidates for improvement\n" + Dearest(report, style);
  text += "\nChanges between the versions\n";
  text += Changes(report, style);
  text += fmt::format("(q over {} comparisons)\n", draw::FormatCount(report.compared));
  return text;
}

}  // namespace fieldcost::report
