#include "tools/report/vendor_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "tools/report/api_names.h"
#include "tools/report/figure_text.h"
#include "tools/report/trend_text.h"
#include "tools/report/version_diff.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::report {
namespace {

using stats::Metric;
using Columns = std::vector<draw::TextColumn>;
using Lines = std::vector<draw::TextLine>;

constexpr std::size_t kMaxVendorName = 44;
constexpr std::size_t kLeastVendorName = 20;
constexpr std::size_t kMaxSentenceName = 60;

std::string ShortName(const analysis::VendorApi& api, const draw::Style& style) {
  return draw::ShortenName(api.name, kMaxVendorName, style);
}

// The heading for contributions or runs.
std::string Contributions(const analysis::VendorReport& report) {
  return report.IsOfLab() ? "RUNS" : "CONTRIB";
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

// The slots that the first lines use.
template <typename Line>
draw::UsedSlots RangeOf(const std::vector<Line>& lines, std::size_t count) {
  std::optional<draw::UsedSlots> used;
  for (std::size_t i = 0; i < count; ++i) used = Join(used, draw::FindUsedSlots(lines[i].bars));
  return used.value_or(draw::UsedSlots{});
}

std::string WallTimeQuantile(const stats::Figures& time, stats::Quantile stats::Quantiles::*which,
                             const draw::Style& style) {
  return QuantileText(time, which, Metric::kWallTime, style);
}

std::string Groups(const analysis::VendorReport& report, const draw::Style& style) {
  const Columns columns = {{"GROUP", false, 0, kLeastVendorName, true},
                           LibraryColumn(2),
                           {"APIS", true, 3},
                           {"CALLS", true, 5},
                           {"TOTAL", true},
                           {"SHARE", true},
                           {"P50", true, 2},
                           {"P95", true, 5},
                           {"P99", true, 4},
                           {Contributions(report), true, 8},
                           {"SLOWER", true, 1},
                           {"FASTER", true, 1},
                           {"SAME", true, 6},
                           {"LITTLE DATA", true, 7},
                           {"RATIO", true, 2},
                           {"95 %", true, 9},
                           {"Q", true, 10},
                           {"CHANGE", false, 4},
                           {"SPECTRUM", false, 3}};
  const draw::UsedSlots range = RangeOf(report.groups, report.groups.size());
  Lines lines;
  for (const analysis::VendorGroup& group : report.groups) {
    const bool compared = group.change != inference::Verdict::kTooLittleData;
    const std::string& name = group.group.empty() ? group.soname : group.group;
    const std::string library = group.group.empty() ? "" : EscapeControl(group.soname);
    lines.push_back(
        {draw::ShortenName(name, kMaxVendorName, style), library, draw::FormatCount(group.apis),
         draw::FormatCount(group.calls), draw::TotalText(group.total, style),
         draw::RoughShareText(group.share),
         WallTimeQuantile(group.time, &stats::Quantiles::p50, style),
         WallTimeQuantile(group.time, &stats::Quantiles::p95, style),
         WallTimeQuantile(group.time, &stats::Quantiles::p99, style),
         draw::FormatCount(group.contributions), draw::FormatCount(group.slower),
         draw::FormatCount(group.faster), draw::FormatCount(group.unchanged),
         draw::FormatCount(group.too_little), compared ? fmt::format("{:.2f}", group.ratio) : "-",
         compared ? fmt::format("{:.2f}..{:.2f}", group.ratio_low, group.ratio_high) : "-",
         compared ? ProbabilityText(group.q) : "-",
         std::string(analysis::Words(group.change, Metric::kWallTime)),
         draw::SpectrumOver(group.bars, range, kSpectrumWidth, style)});
  }
  return draw::TextTable(columns, lines, style);
}

std::string MostExpensive(const analysis::VendorReport& report, const draw::Style& style) {
  const bool weeks = report.HasWeeks();
  Columns columns = {{"API", false, 0, kLeastVendorName, true},
                     LibraryColumn(6),
                     {"VERSION", false, 8, kLeastLibraryWidth},
                     {"CALLS", true, 5},
                     {Contributions(report), true, 9},
                     {"TOTAL", true},
                     {"SHARE", true},
                     {"P50", true},
                     {"P95", true, 4},
                     {"P99", true, 3},
                     {"ALLOC/CALL", true, 7},
                     {"VERSIONS", false, 2}};
  if (weeks) columns.push_back({"WEEKS", false, 2});
  columns.push_back({"SPECTRUM", false, 1});
  Lines lines;
  const draw::Style plain{.utf8 = style.utf8};
  const std::size_t shown = std::min(report.apis.size(), kMaxTextApis);
  const draw::UsedSlots range = RangeOf(report.apis, shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::VendorApi& api = report.apis[i];
    lines.push_back({ShortName(api, style), EscapeControl(report.libraries[api.library].soname),
                     draw::Shorten(api.version, kMaxVersionWidth, style),
                     draw::FormatCount(api.calls), draw::FormatCount(api.contributions),
                     draw::TotalText(api.total, style), draw::RoughShareText(api.share),
                     WallTimeQuantile(api.time, &stats::Quantiles::p50, style),
                     WallTimeQuantile(api.time, &stats::Quantiles::p95, style),
                     WallTimeQuantile(api.time, &stats::Quantiles::p99, style),
                     draw::FormatCost(api.alloc_mean, Metric::kAllocInclusive, style),
                     TrendLine(api.versions, plain)});
    if (weeks) lines.back().push_back(TrendLine(api.weeks, plain));
    lines.back().push_back(draw::SpectrumOver(api.bars, range, kSpectrumWidth, style));
  }
  std::string text = draw::TextTable(columns, lines, style);
  if (report.apis.size() > kMaxTextApis) {
    text += fmt::format("({} of {} APIs; all: --csv)\n", kMaxTextApis,
                        draw::FormatCount(report.apis.size()));
  }
  return text;
}

std::string Changes(const analysis::VendorReport& report, const draw::Style& style) {
  std::vector<analysis::ChangedApi> found = analysis::WithChange(report, inference::Verdict::kMore);
  const std::vector<analysis::ChangedApi> faster =
      analysis::WithChange(report, inference::Verdict::kLess);
  found.insert(found.end(), faster.begin(), faster.end());
  if (found.empty()) return "no significant changes\n";
  const Columns columns = {{"CHANGE"},
                           {"API", false, 0, kLeastVendorName, true},
                           LibraryColumn(4),
                           {"METRIC"},
                           {"P50 OLD", true, 1},
                           {"NEW", true, 1},
                           {"RATIO", true},
                           {"95 %", true, 3},
                           {"DELTA", true, 6},
                           {"P", true, 7},
                           {"Q", true, 5},
                           {"COSTS MORE", true, 2},
                           {"COMPARED", false, 8}};
  Lines lines;
  for (const auto& [api, one] : found) {
    const auto regression = one->metric == Metric::kWallTime ? api->Regression() : std::nullopt;
    lines.push_back({std::string(analysis::Words(one->change, one->metric)), ShortName(*api, style),
                     EscapeControl(report.libraries[api->library].soname),
                     std::string(stats::Name(one->metric)),
                     QuantileText(one->before, &stats::Quantiles::p50, one->metric, style),
                     QuantileText(one->after, &stats::Quantiles::p50, one->metric, style),
                     fmt::format("{:.2f}", one->ratio), ConfidenceText(*one),
                     fmt::format("{:.2f}", one->delta), ProbabilityText(one->test.p),
                     ProbabilityText(one->q), draw::TotalText(regression, style),
                     ComparedText(*one)});
  }
  return draw::TextTable(columns, lines, style);
}

}  // namespace

std::string VendorSentence(const analysis::VendorReport& report, const draw::Style& style) {
  const auto short_name = [&](const std::string& name) {  // other names stay unchanged, unescaped
    const bool is_long = name.size() > kMaxSentenceName;
    return is_long ? draw::ShortenName(name, kMaxSentenceName, style) : name;
  };
  std::vector<analysis::ChangedApi> slower =
      analysis::WithChange(report, inference::Verdict::kMore);
  std::erase_if(slower, [](const auto& one) { return one.second->metric != Metric::kWallTime; });
  std::string text;
  if (!slower.empty()) {
    const auto& [api, change] = slower.front();
    text = fmt::format("{}{} {} is {} since {}", Counted(slower.size(), "regression"),
                       slower.size() == 1 ? ":" : ", the costliest:", short_name(api->name),
                       ChangeWords(*change, style), report.libraries[api->library].after);
    if (const auto regression = api->Regression()) {
      text += fmt::format(", {} in the {}", draw::TotalText(regression, style),
                          report.IsOfLab() ? "lab" : "field");
    }
  } else if (report.compared != 0) {
    text = "No significant regression";
    if (report.libraries.size() == 1) text += " since " + report.libraries[0].after;
  } else {
    text = "Nothing to compare with an older version";
  }
  if (!report.apis.empty() && report.apis[0].share > 0) {
    text += fmt::format("; biggest lever: {}, {}", short_name(report.apis[0].name),
                        draw::RoughShareText(report.apis[0].share));
  }
  return text;
}

std::string WaitingText(const analysis::VendorReport& report) {
  std::set<std::string> symbols;
  for (const analysis::VendorApi& api : report.waiting) symbols.insert(api.symbol);
  return symbols.empty() ? "" : WaitingText(symbols) + "\n";
}

std::string VendorText(const analysis::VendorReport& report, const draw::Style& style) {
  std::string text = fmt::format(
      "{}: {}, {} measured; {}\n", EscapeControl(report.title), Counted(report.apis.size(), "API"),
      draw::Counted(report.calls, "call"), EstimateText(report.total, style));
  text += EscapeControl(VendorSentence(report, style)) + "\n";
  text += Libraries(report, style);
  text += WaitingText(report);
  if (report.apis.empty()) return text;
  text += "\nGroups, the most expensive first\n" + Groups(report, style);
  text += "\nAPIs, the most expensive first: candidates for improvement\n" +
          MostExpensive(report, style);
  text += "\nChanges between the versions\n";
  text += Changes(report, style);
  text += fmt::format("(q over {} comparisons)\n", draw::FormatCount(report.compared));
  return text;
}

}  // namespace fieldcost::report
