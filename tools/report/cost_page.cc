#include "tools/report/cost_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg.h"
#include "common/shm/log2_bucket.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {
namespace {

constexpr draw::Style kStyle{.utf8 = true};

constexpr std::string_view kCss = R"css(
:root{color-scheme:light dark;--ink:#1b1b1f;--paper:#fff;--soft:#55555f;--line:#d4d4dc;--panel:#f5f5f8;--link:#1a4fa3}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8ee;--paper:#16161a;--soft:#ababb8;--line:#3a3a45;--panel:#202027;--link:#8ab4ff}}
body{margin:0 auto;max-width:76rem;padding:1.5rem;font:1rem/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink)}
h1{font-size:1.6rem;margin:0}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:0;overflow-wrap:anywhere}h4{margin:1rem 0 .25rem}
p{margin:.4rem 0}.soft{color:var(--soft);font-size:.9rem}a{color:var(--link)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--soft);font-size:.9rem;padding-bottom:.4rem}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
td.n,th.n{text-align:right}td small{display:block;color:var(--soft)}
article{margin:1rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--panel)}
svg{max-width:100%;height:auto}summary{cursor:pointer;color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
)css";

// SHA-256 of the above, base64: the one style that the page's policy lets through.
constexpr std::string_view kCssHash = "lPuIfr+4zLi4n6gtEa62LBSPakxUNeXeOG980HkAJ3o=";

std::string Head() {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>fieldcost: costs on this machine</title>\n<style>{}</style>\n</head>\n",
      kCssHash, kCss);
}

std::string Facts(const std::vector<CostPageContent::Fact>& facts) {
  std::string html =
      "<section aria-labelledby=\"facts\">\n<h2 id=\"facts\">What leaves this "
      "machine, and what stays</h2>\n<dl>\n";
  for (const auto& fact : facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", draw::EscapeHtml(fact.label),
                        draw::EscapeHtml(fact.untrusted_value));
  }
  return html + "</dl>\n</section>\n";
}

std::string Cost(double value, stats::Metric metric) {
  return draw::FormatCost(value, metric, kStyle);
}

std::string Interval(const stats::Quantile& quantile, stats::Metric metric) {
  return draw::FormatInterval(quantile.low, quantile.high, " – ", metric, kStyle);
}

std::string QuantileCell(const stats::Quantile& quantile, stats::Metric metric) {
  return fmt::format("<td class=\"n\">{}<small>{}</small></td>", Cost(quantile.estimate, metric),
                     Interval(quantile, metric));
}

// The metric that the overview shows: time where there is one.
const std::pair<const stats::Metric, analysis::MetricSummary>* FirstOf(
    const analysis::CostSummary& summary) {
  const auto time = summary.metrics.find(
      summary.IsOnlyOfBusyMachines() ? stats::Metric::kWallTimeBusy : stats::Metric::kWallTime);
  const auto chosen = time == summary.metrics.end() ? summary.metrics.begin() : time;
  return chosen == summary.metrics.end() ? nullptr : &*chosen;
}

std::string OverviewRow(const analysis::CostSummary& summary, std::size_t number) {
  std::string html = fmt::format(
      "<tr><th scope=\"row\"><a href=\"#api{}\">{}</a></th><td>{}</td><td>{}</td>", number,
      draw::EscapeHtml(summary.api.symbol), draw::EscapeHtml(summary.api.soname),
      draw::EscapeHtml(summary.api.package_version));
  if (const auto* first = FirstOf(summary)) {
    const auto& [metric, numbers] = *first;
    const stats::Figures& figures = numbers.figures;
    html += fmt::format("<td>{}</td><td class=\"n\">{}</td>", stats::Name(metric),
                        draw::FormatCount(figures.calls));
    const stats::Quantiles quantiles = figures.quantiles.value_or(stats::Quantiles{});
    for (const stats::Quantile& quantile : {quantiles.p50, quantiles.p95, quantiles.p99}) {
      html += QuantileCell(quantile, metric);
    }
    html += fmt::format("<td>{}</td>",
                        draw::SpectrumSvg(draw::BarsOf(numbers.sums, figures, metric), metric));
  }
  return html + "</tr>\n";
}

std::string Overview(const std::vector<analysis::CostSummary>& summaries, std::size_t shown) {
  std::string html =
      "<section aria-labelledby=\"costs\">\n<h2 id=\"costs\">Costs</h2>\n"
      "<div class=\"scroll\" role=\"region\" aria-labelledby=\"costs\" tabindex=\"0\">\n<table>\n"
      "<caption>n = measured values. Small: the interval that certainly holds the quantile. "
      "Spectrum: from cheap (left, blue) to dear (right, red), height = how often.</caption>\n"
      "<thead><tr><th scope=\"col\">API</th><th scope=\"col\">Library</th><th "
      "scope=\"col\">Version</th><th scope=\"col\">Metric</th><th scope=\"col\" "
      "class=\"n\">n</th><th scope=\"col\" class=\"n\">p50</th><th scope=\"col\" "
      "class=\"n\">p95</th><th scope=\"col\" class=\"n\">p99</th><th "
      "scope=\"col\">Spectrum</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < shown; ++i) html += OverviewRow(summaries[i], i + 1);
  html += "</tbody>\n</table>\n</div>\n";
  if (shown < summaries.size()) {
    html += fmt::format("<p>{} of {} APIs. All: <code>fieldcost top --local --limit 0</code></p>\n",
                        shown, summaries.size());
  }
  return html + "</section>\n";
}

std::string Buckets(stats::Metric metric, const stats::CostHistogram& histogram) {
  std::string html = fmt::format(
      "<details><summary>Buckets in numbers</summary>\n<table><thead><tr><th "
      "scope=\"col\">from ({0})</th><th scope=\"col\">to ({0})</th><th scope=\"col\" "
      "class=\"n\">n</th><th scope=\"col\" class=\"n\">sum ({0})</th></tr></thead>\n<tbody>\n",
      stats::Unit(metric));
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = histogram.bucket(slot);
    if (bucket.count == 0) continue;
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        draw::Decimal(shm::SlotMin(slot)), draw::Decimal(shm::SlotMax(slot)),
        draw::FormatCount(bucket.count), draw::Decimal(bucket.sum));
  }
  return html + "</tbody></table>\n</details>\n";
}

std::string QuantileWords(const stats::Quantiles& quantiles, stats::Metric metric) {
  std::string html;
  for (const auto& [label, quantile] :
       {std::pair{"p50", &quantiles.p50}, {"p95", &quantiles.p95}, {"p99", &quantiles.p99}}) {
    html += fmt::format("{} {} <span class=\"soft\">({})</span> ", label,
                        Cost(quantile->estimate, metric), Interval(*quantile, metric));
  }
  return html;
}

std::string Detail(const analysis::CostSummary& summary, std::size_t number) {
  const std::string name = stats::DisplayName(summary.api);
  std::string html = fmt::format(
      "<article id=\"api{0}\" aria-labelledby=\"name{0}\">\n<h3 id=\"name{0}\">{1}</h3>\n", number,
      draw::EscapeHtml(name));
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) html += fmt::format("{} {} ", label, draw::EscapeHtml(value));
  };
  html += "<p class=\"soft\">";
  add("version", summary.api.package_version);
  add("symbol version", summary.api.symbol_version);
  add("build-id", summary.api.build_id);
  html += "</p>\n";
  for (const auto& [metric, numbers] : summary.metrics) {
    const stats::CallFigures calls = numbers.figures.all_calls.value_or(stats::CallFigures{});
    html += fmt::format(
        "<h4>{} ({})</h4>\n<p>n {}, mean {}, standard deviation {}</p>\n<p>{}</p>\n",
        stats::Name(metric), stats::Unit(metric), draw::FormatCount(calls.totals.count),
        Cost(calls.mean, metric), draw::FormatSpread(calls.standard_deviation, metric, kStyle),
        QuantileWords(calls.quantiles, metric));
    html += draw::HistogramSvg(draw::CountBars(numbers.sums.histogram, metric), metric, name) +
            "\n" + Buckets(metric, numbers.sums.histogram);
  }
  return html + "</article>\n";
}

}  // namespace

std::string CostPage(const CostPageContent& content) {
  const std::size_t shown = std::min(content.summaries.size(), kMaxPageApis);
  std::string html = Head();
  html += fmt::format(
      "<body>\n<header>\n<h1>What library functions cost on this machine</h1>\n"
      "<p class=\"soft\">Made {} by <code>fieldcost agent view</code> from what was measured here. "
      "This file fetches and sends nothing. Fresh numbers: run the command again.</p>\n"
      "</header>\n<main>\n",
      draw::FormatTime(content.made));
  html += Facts(content.facts);
  if (content.summaries.empty()) {
    html += "<h2>Costs</h2>\n<p>Nothing is measured yet: <code>fieldcost run -- PROGRAM</code></p>";
  } else {
    html += Overview(content.summaries, shown);
    html += "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Each in detail</h2>\n";
    for (std::size_t i = 0; i < shown; ++i) html += Detail(content.summaries[i], i + 1);
    html += "</section>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace fieldcost::report
