#include "tools/report/vendor_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg.h"
#include "common/stats/anomaly.h"
#include "tools/analysis/trend.h"
#include "tools/report/figure_text.h"
#include "tools/report/trend_text.h"
#include "tools/report/vendor_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using stats::Metric;

constexpr draw::Style kStyle{.utf8 = true};
constexpr std::size_t kMaxCandidates = 10;

constexpr std::string_view kCss = R"css(
:root{color-scheme:light dark;--ink:#1b1b1f;--paper:#fff;--soft:#55555f;--line:#d4d4dc;--panel:#f5f5f8;--link:#1a4fa3;--warn:#8a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8ee;--paper:#16161a;--soft:#ababb8;--line:#3a3a45;--panel:#202027;--link:#8ab4ff;--warn:#ffc27a}}
body{margin:0 auto;max-width:84rem;padding:1.5rem;font:1rem/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink)}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:0;overflow-wrap:anywhere}
p{margin:.4rem 0}.soft{color:var(--soft);font-size:.9rem}.warn{color:var(--warn);border:2px solid;padding:.5rem 1rem;font-weight:700}a{color:var(--link)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--soft);font-size:.9rem;padding-bottom:.4rem}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
td.n,th.n{text-align:right}td small,th small{display:block;color:var(--soft);font-weight:400}
article{margin:1rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--panel)}
svg{max-width:100%;height:auto}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
@page{margin:1.5cm}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#444;--line:#999;--panel:#fff;--link:#000;--warn:#000}body{max-width:none;padding:0;font-size:8pt}.scroll{overflow:visible}th,td{white-space:normal;padding-right:.4rem}thead{display:table-header-group}tr,article{break-inside:avoid}h2,h3{break-after:avoid}rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

// SHA-256 of the above, base64: the one style that the page's policy lets through.
constexpr std::string_view kCssHash = "TjLXuLHzq05G1qwZsUYeJIlpJikGZG0/Ohq61rylwV4=";

std::string Head(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>fieldcost: {}</title>\n<style>{}</style>\n</head>\n",
      kCssHash, draw::EscapeHtml(title), kCss);
}

std::string Cell(std::string_view escaped) { return fmt::format("<td>{}</td>", escaped); }
std::string Number(std::string_view escaped) {
  return fmt::format("<td class=\"n\">{}</td>", escaped);
}
std::string Heading(std::string_view text, bool number = false) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "", text);
}

// A section with one table that can be scrolled; `id` is the section's.
std::string Table(std::string_view id, std::string_view title, std::string_view caption,
                  std::string_view headings, std::string_view rows) {
  return fmt::format(
      "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n<div class=\"scroll\" "
      "role=\"region\" aria-labelledby=\"{0}\" tabindex=\"0\">\n<table>\n<caption>{2}</caption>\n"
      "<thead><tr>{3}</tr></thead>\n<tbody>\n{4}</tbody>\n</table>\n</div>\n</section>\n",
      id, title, caption, headings, rows);
}

std::string Cost(double value, Metric metric) {
  return draw::EscapeHtml(draw::FormatCost(value, metric, kStyle));
}

std::string QuantileCell(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which) {
  if (!figures.quantiles) return Number("–");
  const stats::Quantile& quantile = *figures.quantiles.*which;
  return fmt::format("<td class=\"n\">{}<small>{} – {}</small></td>",
                     Cost(quantile.estimate, Metric::kWallTime),
                     Cost(quantile.low, Metric::kWallTime), Cost(quantile.high, Metric::kWallTime));
}

class Page {
 public:
  explicit Page(const VendorPageContent& content)
      : content_(content),
        report_(*content.report),
        shown_(std::min(report_.apis.size(), kMaxPageApis)) {}

  std::string Make() const {
    std::string html = Head("field costs of " + report_.title);
    html += fmt::format("<body>\n<header>\n<h1>Field costs of {}</h1>\n", Text(report_.title));
    if (content_.synthetic) {
      html += "<p class=\"warn\">SYNTHETIC: these are made-up data, not measurements.</p>\n";
    }
    html += fmt::format(
        "<p class=\"soft\">{} APIs, {} calls, {} in all. Measured on volunteers' machines and "
        "published only as sums. This file fetches nothing.</p>\n</header>\n<main>\n",
        draw::FormatCount(report_.apis.size()), draw::FormatCount(report_.calls),
        draw::TotalText(report_.total, kStyle));
    html += Facts();
    if (!report_.apis.empty()) {
      html += Candidates() + Changes() + Groups() + Use() + Details();
    }
    return html + Method() + "</main>\n</body>\n</html>\n";
  }

 private:
  static std::string Text(std::string_view untrusted) { return draw::EscapeHtml(untrusted); }
  const analysis::VendorLibrary& LibraryOf(const analysis::VendorApi& api) const {
    return report_.libraries[api.library];
  }

  // The API's name, leading to its details if it has any here.
  std::string NameCell(const analysis::VendorApi& api) const {
    const auto index = static_cast<std::size_t>(&api - report_.apis.data());
    std::string name = Text(api.name);
    if (index < shown_) name = fmt::format("<a href=\"#api{}\">{}</a>", index + 1, name);
    return fmt::format("<th scope=\"row\">{}<small>{}</small></th>", name,
                       Text(LibraryOf(api).soname));
  }

  std::string Facts() const {
    std::string html =
        "<section aria-labelledby=\"facts\">\n<h2 id=\"facts\">What this is about</h2>\n<dl>\n";
    for (const analysis::VendorLibrary& library : report_.libraries) {
      std::string versions;
      for (const std::string& version : library.versions) {
        versions += (versions.empty() ? "" : ", ") + version;
      }
      html += fmt::format(
          "<dt>{}</dt><dd>versions {}; {}</dd>\n", Text(library.soname), Text(versions),
          library.before.empty()
              ? "nothing to compare with"
              : fmt::format("changes from {} to {}", Text(library.before), Text(library.after)));
    }
    for (const auto& fact : content_.facts) {
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", Text(fact.label), Text(fact.untrusted_value));
    }
    return html + "</dl>\n</section>\n";
  }

  std::string Candidates() const {
    std::string rows;
    double together = 0;
    for (std::size_t i = 0; i < std::min(report_.apis.size(), kMaxCandidates); ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      together += api.share;
      const stats::Quantiles quantiles = api.time.quantiles.value_or(stats::Quantiles{});
      const double tail =
          quantiles.p50.estimate > 0 ? quantiles.p99.estimate / quantiles.p50.estimate : 0;
      rows += "<tr>" + NameCell(api) + Number(draw::FormatCount(api.calls)) +
              Number(draw::TotalText(api.total, kStyle)) + Number(ShareText(api.share)) +
              Number(ShareText(together)) + Number(tail > 0 ? fmt::format("{:.1f}", tail) : "–") +
              Number(api.Regression() ? draw::TotalText(api.Regression(), kStyle) : "–") +
              "</tr>\n";
    }
    return Table(
        "candidates", "Where improvement pays most",
        "The dearest APIs by the time of calls in the field, all versions; no contribution "
        "counts more than about 16 times what is usual for its API. Tail: p99 "
        "over p50 of the newest version. Regression: what the newest version's calls have "
        "cost more than they would have before.",
        Heading("API") + Heading("Calls", true) + Heading("Total", true) + Heading("Share", true) +
            Heading("Share so far", true) + Heading("Tail", true) + Heading("Regression", true),
        rows);
  }

  std::string Changes() const {
    std::string rows;
    for (const analysis::Change change : {analysis::Change::kMore, analysis::Change::kLess}) {
      for (const auto& [api, one] : analysis::WithChange(report_, change)) {
        rows += "<tr>" + NameCell(*api) + Cell(Name(one->change, one->metric)) +
                Cell(stats::Name(one->metric)) +
                Number(QuantileText(one->before, &stats::Quantiles::p50, one->metric, kStyle)) +
                Number(QuantileText(one->after, &stats::Quantiles::p50, one->metric, kStyle)) +
                fmt::format("<td class=\"n\">{:.2f}<small>{:.2f} – {:.2f}</small></td>", one->ratio,
                            one->ratio_low, one->ratio_high) +
                Number(fmt::format("{:.2f}", one->delta)) + Number(ProbabilityText(one->test.p)) +
                Number(ProbabilityText(one->q)) +
                Number(draw::FormatCount(one->before.contributions)) +
                Number(draw::FormatCount(one->after.contributions)) + Cell(ComparedText(*one)) +
                "</tr>\n";
      }
    }
    const std::string caption =
        rows.empty()
            ? "No API is shown to have changed between the versions."
            : "Ratio: of the machines' geometric means, small: its 95 % confidence. Delta: "
              "Cliff's. The costliest regression first.";
    return Table("changes", "What changed between versions", caption,
                 Heading("API") + Heading("Change") + Heading("Metric") + Heading("p50", true) +
                     Heading("p50 then", true) + Heading("Ratio", true) + Heading("Delta", true) +
                     Heading("p", true) + Heading("q", true) + Heading("Contributions", true) +
                     Heading("then", true) + Heading("Compared"),
                 rows);
  }

  std::string Groups() const {
    std::string rows;
    for (const analysis::VendorGroup& group : report_.groups) {
      const bool compared = group.change != analysis::Change::kTooLittleData;
      rows += fmt::format("<tr><th scope=\"row\">{}</th>", Text(analysis::NameOf(group))) +
              Number(draw::FormatCount(group.apis)) + Number(draw::FormatCount(group.calls)) +
              Number(draw::TotalText(group.total, kStyle)) + Number(ShareText(group.share)) +
              Number(draw::FormatCount(group.contributions)) +
              Number(draw::FormatCount(group.slower)) + Number(draw::FormatCount(group.faster)) +
              Number(draw::FormatCount(group.unchanged)) +
              Number(draw::FormatCount(group.too_little)) +
              (compared ? fmt::format("<td class=\"n\">{:.2f}<small>{:.2f} – {:.2f}</small></td>",
                                      group.ratio, group.ratio_low, group.ratio_high) +
                              Number(ProbabilityText(group.q))
                        : Number("–") + Number("–")) +
              Cell(Name(group.change, Metric::kWallTime)) + "</tr>\n";
    }
    return Table(
        "groups", "Groups",
        "Contributions: to the group's most contributed API. Ratio: of the group's APIs, each "
        "weighing what it cost before.",
        Heading("Group") + Heading("APIs", true) + Heading("Calls", true) + Heading("Total", true) +
            Heading("Share", true) + Heading("Contributions", true) + Heading("Slower", true) +
            Heading("Faster", true) + Heading("Same", true) + Heading("Little data", true) +
            Heading("Ratio", true) + Heading("q", true) + Heading("Change"),
        rows);
  }

  std::string Use() const {
    const bool weeks = report_.HasWeeks();
    std::string rows;
    for (std::size_t i = 0; i < shown_; ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      rows += "<tr>" + NameCell(api) + Number(draw::FormatCount(api.calls)) +
              Number(ShareText(api.share)) + Number(draw::FormatCount(api.contributions));
      for (const auto which :
           {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
        rows += QuantileCell(api.time, which);
      }
      rows += Number(api.alloc_mean ? Cost(*api.alloc_mean, Metric::kAllocInclusive) : "–") +
              Cell(draw::SpectrumSvg(api.bars, Metric::kWallTime)) +
              Cell(TrendSvg(api.versions, "versions", Metric::kWallTime)) +
              (weeks ? Cell(TrendSvg(api.weeks, "weeks", Metric::kWallTime)) : "") + "</tr>\n";
    }
    std::string caption =
        "Calls, share of the total time and contributions: all versions. Costs: the newest "
        "version, "
        "the typical machine's, in runs that began with little load, small: the interval that "
        "certainly holds the quantile. Spectrum: "
        "from cheap (left, blue) to dear (right, red), height = how often. Versions and weeks: the "
        "machines' typical cost, "
        "from "
        "zero.";
    if (!weeks) caption += " Single weeks are not published.";
    if (shown_ < report_.apis.size()) {
      caption += fmt::format(" {} of {} APIs; all: --format csv.", shown_,
                             draw::FormatCount(report_.apis.size()));
    }
    return Table("use", "Use and cost of each API", caption,
                 Heading("API") + Heading("Calls", true) + Heading("Share", true) +
                     Heading("Contributions", true) + Heading("p50", true) + Heading("p95", true) +
                     Heading("p99", true) + Heading("Alloc/call", true) + Heading("Spectrum") +
                     Heading("Versions") + (weeks ? Heading("Weeks") : ""),
                 rows);
  }

  static std::string TrendText(const std::vector<analysis::TrendPoint>& points,
                               std::string_view unit) {
    if (points.size() < 2) return "";
    return fmt::format("<p>Typical machine, {}</p>\n",
                       Text(TrendWords(points, unit, Metric::kWallTime, kStyle)));
  }

  std::string Details() const {
    std::string html = "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Details</h2>\n";
    for (std::size_t i = 0; i < shown_; ++i) {
      const analysis::VendorApi& api = report_.apis[i];
      html += fmt::format(
          "<article id=\"api{0}\" aria-labelledby=\"name{0}\">\n<h3 id=\"name{0}\">{1}</h3>\n<p "
          "class=\"soft\">{2}!{3}{4}{5}, group {6}</p>\n",
          i + 1, Text(api.name), Text(LibraryOf(api).soname), Text(api.symbol),
          api.symbol_version.empty() ? "" : "@", Text(api.symbol_version), Text(api.group));
      if (!api.version.empty()) {
        html += fmt::format(
            "<p>Version {}: n {}, {} contributions, mean {}</p>\n", Text(api.version),
            draw::FormatCount(api.time.calls), draw::FormatCount(api.time.contributions),
            draw::EscapeHtml(draw::FormatCost(api.time.mean, Metric::kWallTime, kStyle)));
      }
      html += TrendText(api.versions, "versions") + TrendText(api.weeks, "weeks");
      if (const analysis::MetricChange* time = api.Time()) {
        html += fmt::format("<p>From {} to {}: {}, ratio {}, delta {:.2f}, {}</p>\n",
                            Text(LibraryOf(api).before), Text(LibraryOf(api).after),
                            Name(time->change, time->metric), RatioText(*time), time->delta,
                            ComparedText(*time));
      }
      html += draw::HistogramSvg(api.bars, Metric::kWallTime, api.name) + "\n</article>\n";
    }
    return html + "</section>\n";
  }

  std::string Method() const {
    return fmt::format(
        "<section aria-labelledby=\"method\">\n<h2 id=\"method\">How versions are compared</h2>\n"
        "<p>Machines, not calls, are the observations, since calls of one machine resemble each "
        "other: Welch's test on the machines' mean logarithms, within each hardware class that is "
        "published for both versions, combined with weights after Mantel and Haenszel, so that "
        "another mix of machines is no change. Where no single classes are published all are "
        "compared together. The machines are those of the fullest week, where each is counted "
        "once; costs, ratios and delta are of all weeks. q: Benjamini and Hochberg over {} "
        "comparisons. A change needs q ≤ {}, Cliff's delta of {} and a ratio of {} (or its "
        "reciprocal) at least; fewer than {} calls or {} machines on a side are too little "
        "data.</p>\n</section>\n",
        draw::FormatCount(report_.compared), stats::kFalseDiscoveries, stats::kLeastDelta,
        stats::kLeastRatio, stats::kLeastCalls, stats::kLeastMachines);
  }

  const VendorPageContent& content_;
  const analysis::VendorReport& report_;
  const std::size_t shown_;
};

}  // namespace

std::string VendorPage(const VendorPageContent& content) { return Page(content).Make(); }

}  // namespace fieldcost::report
