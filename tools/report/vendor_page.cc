#include "tools/report/vendor_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg.h"
#include "common/inference/anomaly.h"
#include "tools/analysis/trend.h"
#include "tools/report/figure_text.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"
#include "tools/report/trend_text.h"
#include "tools/report/vendor_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using stats::Metric;

constexpr std::size_t kMaxCandidates = 10;
constexpr std::size_t kMaxGroupHistograms = 100;

std::string Cost(double value, Metric metric) {
  return draw::EscapeHtml(draw::FormatCost(value, metric, kPageTextStyle));
}

// In the page's order; the small print of quantiles is in the details.
constexpr std::array<stats::Quantile stats::Quantiles::*, 3> kQuantiles = {
    &stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99};

std::string Quantile(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                     Metric metric) {
  return draw::EscapeHtml(QuantileText(figures, which, metric, kPageTextStyle));
}

std::string Ratio(double ratio, double low, double high) {
  return fmt::format("{:.2f}<small>{:.2f} – {:.2f}</small>", ratio, low, high);
}

class Page {
 public:
  explicit Page(const VendorPageContent& content)
      : content_(content),
        report_(*content.report),
        shown_(std::min(report_.apis.size(), kMaxPageApis)) {
    for (std::size_t i = 0; i < shown_; ++i) {
      scale_.Add(report_.apis[i].bars, Metric::kWallTime);
    }
    for (const analysis::VendorGroup& group : report_.groups) {
      group_scale_.Add(group.bars, Metric::kWallTime);
    }
  }

  std::string Make() const {
    std::string html = PageBegin(
        (IsOfLab() ? "fieldcost: costs of " : "fieldcost: field costs of ") + report_.title);
    html += fmt::format("<header>\n<h1>{} of {}</h1>\n", IsOfLab() ? "Costs" : "Field costs",
                        Text(report_.title));
    if (content_.synthetic) {
      html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
    }
    html +=
        fmt::format("<p class=\"lead\">{}.</p>\n", Text(VendorSentence(report_, kPageTextStyle)));
    html += fmt::format(
        "<p class=\"soft\">{}, {} measured; {}. {} This page loads no other "
        "files.</p>\n</header>\n<main>\n",
        Counted(report_.apis.size(), "API"), draw::Counted(report_.calls, "call"),
        EstimateText(report_.total, kPageTextStyle),
        IsOfLab() ? "From a lab table: measurements of single scenarios."
                  : "Measured on volunteers' machines and published only as sums.");
    if (!report_.apis.empty()) {
      html += Candidates() + Changes() + Groups() + Use() + Details();
    }
    return html + Facts() + Method() + "</main>\n" + PageEnd();
  }

 private:
  bool IsOfLab() const { return report_.IsOfLab(); }
  // The heading for contributions or runs.
  std::string Contributions() const { return IsOfLab() ? "Runs" : "Contributions"; }
  static std::string Text(std::string_view untrusted) { return draw::EscapeHtml(untrusted); }
  const analysis::VendorLibrary& LibraryOf(const analysis::VendorApi& api) const {
    return report_.libraries[api.library];
  }

  const std::string& GroupOf(const analysis::VendorApi& api) const {
    const analysis::VendorGroup& group = report_.groups[api.group];
    return group.group.empty() ? api.name_space : group.group;
  }

  // The API's name, linked to its details if the page has any.
  std::string Name(const analysis::VendorApi& api) const {
    const auto index = static_cast<std::size_t>(&api - report_.apis.data());
    return NameHtml(api.name, index < shown_ ? fmt::format("#api{}", index + 1) : "",
                    LibraryOf(api).soname);
  }
  std::string Spectrum(const analysis::VendorApi& api) const {
    return scale_.Cell(api.bars, Metric::kWallTime);
  }

  std::string Facts() const {
    std::string html =
        "<section aria-labelledby=\"facts\">\n<h2 id=\"facts\">Scope of this report</h2>\n<dl>\n";
    for (const analysis::VendorLibrary& library : report_.libraries) {
      std::string versions;
      for (const std::string& version : library.versions) {
        versions += (versions.empty() ? "" : ", ") + version;
      }
      html += fmt::format(
          "<dt>{}</dt><dd>versions {}; {}</dd>\n", Text(library.soname), Text(versions),
          library.before.empty()
              ? "no earlier version to compare with"
              : fmt::format("changes from {} to {}", Text(library.before), Text(library.after)));
    }
    if (!report_.waiting.empty()) {
      html += fmt::format("<dt>excluded</dt><dd>{}</dd>\n", Text(Trim(WaitingText(report_))));
    }
    for (const auto& fact : content_.facts) {
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", Text(fact.label), Text(fact.untrusted_value));
    }
    return html + "</dl>\n</section>\n";
  }

  std::string Candidates() const {
    using enum ColumnKind;
    PageTable table{
        .id = "candidates",
        .title = "Where improvements save the most",
        .caption =
            std::string("The most expensive APIs by total time of their calls in the ") +
            (IsOfLab() ? "lab" : "field") + ", over all versions. " +
            (IsOfLab() ? "Every call has the same weight. "
                       : "The weight of a contribution is limited to about 16 times the usual one "
                         "of its API. ") +
            "Tail: p99 divided by p50, newest version. Regression: additional cost of the newest "
            "version's calls, compared with the version before.",
        .columns = {{"API", kName},
                    scale_.Column(),
                    {"Total", kNumber},
                    {"Share", kNumber},
                    {"Cumulative share", kNumber},
                    {"Calls", kNumber},
                    {"Tail", kNumber},
                    {"Regression", kNumber, true}},
        .lines = {}};
    double together = 0;
    for (std::size_t i = 0; i < std::min(report_.apis.size(), kMaxCandidates); ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      together += api.share;
      const stats::Quantiles quantiles = api.time.quantiles.value_or(stats::Quantiles{});
      const double tail =
          quantiles.p50.estimate > 0 ? quantiles.p99.estimate / quantiles.p50.estimate : 0;
      table.lines.push_back(
          {Name(api), Spectrum(api), draw::TotalText(api.total, kPageTextStyle),
           Text(draw::RoughShareText(api.share)), Text(draw::RoughShareText(together)),
           draw::FormatCount(api.calls), tail > 0 ? fmt::format("{:.1f}", tail) : "–",
           api.Regression() ? draw::TotalText(api.Regression(), kPageTextStyle) : "–"});
    }
    return SectionHtml(table);
  }

  // First the table that all readers need, then the same lines with statistics.
  std::string Changes() const {
    using enum ColumnKind;
    PageTable table{.id = "changes",
                    .title = "What changed between versions",
                    .caption = "The most expensive regression comes first.",
                    .columns = {{"API", kName},
                                scale_.Column(),
                                {"Change", kText},
                                {"Metric", kText, true},
                                {"p50 old", kNumber},
                                {"p50 new", kNumber},
                                {"Regression", kNumber, true}},
                    .lines = {}};
    PageTable statistics{
        .id = {},
        .title = "Statistics of the changes",
        .caption =
            "Ratio of the machines' geometric means; below it, its 95 % confidence interval. "
            "Delta: Cliff's delta.",
        .columns = {{"API", kName},
                    {"Metric", kText, true},
                    {"Ratio", kNumber},
                    {"Delta", kNumber},
                    {"p", kNumber},
                    {"q", kNumber},
                    {Contributions() + " old", kNumber},
                    {"new", kNumber, false, Contributions() + " new"},
                    {"Compared", kText, true}},
        .lines = {}};
    // One line per significant change in both tables.
    for (const inference::Verdict change : {inference::Verdict::kMore, inference::Verdict::kLess}) {
      for (const auto& [api, one] : analysis::WithChange(report_, change)) {
        const auto regression = one->metric == Metric::kWallTime ? api->Regression() : std::nullopt;
        table.lines.push_back({Name(*api), Spectrum(*api), Text(ChangeWords(*one, kPageTextStyle)),
                               std::string(stats::Name(one->metric)),
                               Quantile(one->before, &stats::Quantiles::p50, one->metric),
                               Quantile(one->after, &stats::Quantiles::p50, one->metric),
                               regression ? draw::TotalText(regression, kPageTextStyle) : "–"});
        statistics.lines.push_back(
            {Name(*api), std::string(stats::Name(one->metric)),
             Ratio(one->ratio, one->ratio_low, one->ratio_high), fmt::format("{:.2f}", one->delta),
             ProbabilityText(one->test.p), ProbabilityText(one->q),
             draw::FormatCount(one->before.contributions),
             draw::FormatCount(one->after.contributions), ComparedText(*one)});
      }
    }
    if (table.lines.empty()) {
      return "<section aria-labelledby=\"changes\">\n<h2 id=\"changes\">What changed between "
             "versions</h2>\n<p>No significant changes between the versions.</p>\n"
             "</section>\n";
    }
    return SectionHtml(table) + FoldedHtml("Ratio, delta, p, q of these", statistics);
  }

  std::string Groups() const {
    using enum ColumnKind;
    PageTable table{
        .id = "groups",
        .title = "Groups",
        .caption =
            "Costs are those of the sum over the group's APIs, each in its newest version. "
            "Spectrum: " +
            group_scale_.Words() + " Slower: number of APIs.",
        .columns = {{"Group", kName},
                    group_scale_.Column(),
                    {"Total", kNumber},
                    {"Share", kNumber},
                    {"Calls", kNumber},
                    {"APIs", kNumber},
                    {"p50", kNumber},
                    {"p95", kNumber},
                    {"p99", kNumber},
                    {"Slower", kNumber},
                    {"Change", kText}},
        .lines = {}};
    PageTable statistics{
        .id = {},
        .title = "Statistics of the groups",
        .caption = Contributions() +
                   ": those of the group's API that has the most. Faster, same: number of APIs. "
                   "Little data: too little for a verdict. Ratio: mean over the group's APIs, "
                   "weighted by their previous cost.",
        .columns = {{"Group", kName},
                    {Contributions(), kNumber},
                    {"Faster", kNumber},
                    {"Same", kNumber},
                    {"Little data", kNumber},
                    {"Ratio", kNumber},
                    {"q", kNumber}},
        .lines = {}};
    // One line per group in both tables.
    for (const analysis::VendorGroup& group : report_.groups) {
      const std::string name = NameHtml(analysis::NameOf(group), "", "");
      std::vector<std::string> line = {name,
                                       group_scale_.Cell(group.bars, Metric::kWallTime),
                                       draw::TotalText(group.total, kPageTextStyle),
                                       Text(draw::RoughShareText(group.share)),
                                       draw::FormatCount(group.calls),
                                       draw::FormatCount(group.apis)};
      for (const auto which : kQuantiles) {
        line.push_back(Quantile(group.time, which, Metric::kWallTime));
      }
      line.push_back(draw::FormatCount(group.slower));
      line.emplace_back(analysis::Words(group.change, Metric::kWallTime));
      table.lines.push_back(std::move(line));
      const bool compared = group.change != inference::Verdict::kTooLittleData;
      statistics.lines.push_back(
          {name, draw::FormatCount(group.contributions), draw::FormatCount(group.faster),
           draw::FormatCount(group.unchanged), draw::FormatCount(group.too_little),
           compared ? Ratio(group.ratio, group.ratio_low, group.ratio_high) : "–",
           compared ? ProbabilityText(group.q) : "–"});
    }
    return SectionHtml(table) + FoldedHtml("Ratio and q of these", statistics) + GroupHistograms();
  }

  // Folded; of the most expensive groups.
  std::string GroupHistograms() const {
    std::string html = "<details><summary>Histograms of these</summary>\n<div class=\"cards\">\n";
    for (std::size_t i = 0; i < std::min(report_.groups.size(), kMaxGroupHistograms); ++i) {
      const analysis::VendorGroup& group = report_.groups[i];
      const std::string name = analysis::NameOf(group);
      html += fmt::format("<article aria-labelledby=\"group{0}\">\n<h3 id=\"group{0}\">{1}</h3>\n",
                          i + 1, Text(name));
      html +=
          group.timed_apis == 0
              ? "<p class=\"soft\">Times were not measured.</p>\n"
              : fmt::format("<p class=\"soft\">{} with measured times: n {}, {} {}</p>\n",
                            Counted(group.timed_apis, "API"), draw::FormatCount(group.time.calls),
                            draw::FormatCount(group.time.contributions),
                            IsOfLab() ? "runs" : "contributions");
      html += Intervals(group.time);
      html += draw::HistogramSvg(group.bars, Metric::kWallTime, name) + "\n</article>\n";
    }
    return html + "</div>\n</details>\n";
  }

  std::string Use() const {
    using enum ColumnKind;
    PageTable table{.id = "use",
                    .title = "Use and cost of each API",
                    .caption = UseCaption(),
                    .columns = {{"API", kName},
                                scale_.Column(),
                                {"Calls", kNumber},
                                {"Share", kNumber},
                                {Contributions(), kNumber, true},
                                {"p50", kNumber},
                                {"p95", kNumber},
                                {"p99", kNumber},
                                {"Alloc/call", kNumber, true},
                                {"Versions", kPicture, true}},
                    .lines = {}};
    const bool weeks = report_.HasWeeks();
    if (weeks) table.columns.push_back({"Weeks", kPicture});
    for (std::size_t i = 0; i < shown_; ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      std::vector<std::string> line = {Name(api), Spectrum(api), draw::FormatCount(api.calls),
                                       Text(draw::RoughShareText(api.share)),
                                       draw::FormatCount(api.contributions)};
      for (const auto which : kQuantiles) {
        line.push_back(Quantile(api.time, which, Metric::kWallTime));
      }
      line.push_back(api.alloc_mean ? Cost(*api.alloc_mean, Metric::kAllocInclusive) : "–");
      line.push_back(TrendSvg(api.versions, "versions", Metric::kWallTime));
      if (weeks) line.push_back(TrendSvg(api.weeks, "weeks", Metric::kWallTime));
      table.lines.push_back(std::move(line));
    }
    return SectionHtml(table);
  }

  std::string UseCaption() const {
    std::string caption =
        IsOfLab()
            ? "Calls, share of the total time, and runs are those of all versions. Costs are "
              "those of the newest version; the details show their precision. Spectrum: "
            : "Calls (measured), share of the estimated time of all runs, and contributions are "
              "those of all versions. Costs are those of the newest version on a typical machine, "
              "in runs started under low load; the details show their precision. Spectrum: ";
    caption += scale_.Words() + (IsOfLab() ? " Versions: the typical cost of the runs; the axis "
                                             "starts at zero."
                                           : " Versions and weeks: the typical cost of the "
                                             "machines; the axis starts at zero.");
    if (!report_.HasWeeks() && !IsOfLab())
      caption += " Costs of individual weeks are not published.";
    if (shown_ < report_.apis.size()) {
      caption += fmt::format(" {} of {} APIs are shown; --csv lists all.", shown_,
                             draw::FormatCount(report_.apis.size()));
    }
    return caption;
  }

  std::string TrendText(const std::vector<analysis::TrendPoint>& points,
                        std::string_view unit) const {
    if (points.size() < 2) return "";
    return fmt::format("<p>Typical cost of a call (geometric mean of the {}), {}</p>\n",
                       IsOfLab() ? "runs" : "machines' means",
                       Text(TrendWords(points, unit, Metric::kWallTime, kPageTextStyle)));
  }

  std::string Details() const {
    std::string html =
        "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Details</h2>\n"
        "<div class=\"cards\">\n";
    for (std::size_t i = 0; i < shown_; ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      html += fmt::format(
          "<article id=\"api{0}\" aria-labelledby=\"name{0}\">\n<h3 id=\"name{0}\">{1}</h3>\n<p "
          "class=\"soft\">{2}!{3}{4}{5}, group {6}</p>\n",
          i + 1, Text(api.name), Text(LibraryOf(api).soname), Text(api.symbol),
          api.symbol_version.empty() ? "" : "@", Text(api.symbol_version), Text(GroupOf(api)));
      if (!api.version.empty()) {
        html += fmt::format(
            "<p>Version {}: n {}, {} {}, mean {}</p>\n", Text(api.version),
            draw::FormatCount(api.time.calls), draw::FormatCount(api.time.contributions),
            IsOfLab() ? "runs" : "contributions",
            draw::EscapeHtml(draw::FormatCost(api.time.mean, Metric::kWallTime, kPageTextStyle)));
        html += Intervals(api.time);
      }
      html += TrendText(api.versions, "versions") + TrendText(api.weeks, "weeks");
      if (const analysis::MetricChange* time = api.Time()) {
        html += fmt::format(
            "<p>From {} to {}: {}</p>\n<details><summary>Statistics</summary>\n<p>Ratio {}, delta "
            "{:.2f}, {}</p>\n</details>\n",
            Text(LibraryOf(api).before), Text(LibraryOf(api).after),
            Text(ChangeWords(*time, kPageTextStyle)), RatioText(*time), time->delta,
            ComparedText(*time));
      }
      html += draw::HistogramSvg(api.bars, Metric::kWallTime, api.name) + "\n</article>\n";
    }
    return html + "</div>\n</section>\n";
  }

  static std::string Intervals(const stats::Figures& figures) {
    if (!figures.quantiles) return "";
    std::string text;
    for (const auto& [label, which] :
         {std::pair{"p50", kQuantiles[0]}, {"p95", kQuantiles[1]}, {"p99", kQuantiles[2]}}) {
      const stats::Quantile& quantile = *figures.quantiles.*which;
      text += fmt::format("{}{} between {}", text.empty() ? "" : "; ", label,
                          draw::FormatInterval(quantile.low, quantile.high, " and ",
                                               Metric::kWallTime, kPageTextStyle));
    }
    return fmt::format("<p class=\"soft\">{}</p>\n", Text(text));
  }

  std::string Method() const {
    if (IsOfLab()) return "";
    return fmt::format(
        "<section aria-labelledby=\"method\">\n<h2 id=\"method\">How versions are compared</h2>\n"
        "<p>Each observation is a machine, not a call, because calls on the same machine are not "
        "independent. Welch's test compares the machines' mean logarithms within each hardware "
        "class that is published for both versions. The results are combined with "
        "Mantel-Haenszel weights, so that a different mix of machines does not appear as a change. "
        "If no individual classes are published, all machines are compared together. The machines "
        "are those of the quarter with the most data, in which each is counted once; costs, ratios "
        "and delta cover all weeks. q is corrected over {} comparisons (Benjamini-Hochberg). A "
        "change requires q ≤ {}, a Cliff's delta of at least {} and a ratio of at least {} (or its "
        "reciprocal). Fewer than {} calls or {} machines for either version are too little "
        "data.</p>\n</section>\n",
        draw::FormatCount(report_.compared), inference::kFieldThresholds.false_share,
        inference::kFieldThresholds.least_delta, inference::kFieldThresholds.least_ratio,
        inference::kFieldThresholds.least_values, inference::kFieldThresholds.least_machines);
  }

  const VendorPageContent& content_;
  const analysis::VendorReport& report_;
  const std::size_t shown_;
  SpectrumScale scale_;
  SpectrumScale group_scale_;
};

}  // namespace

std::string VendorPage(const VendorPageContent& content) { return Page(content).Make(); }

}  // namespace fieldcost::report
