#include "tools/report/cost_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg.h"
#include "common/names/cxx_name.h"
#include "common/shm/log2_bucket.h"
#include "tools/analysis/namespace_of.h"
#include "tools/analysis/summary.h"
#include "tools/report/figure_text.h"
#include "tools/report/not_measured.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kOverviewColumns = 7;

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
  return draw::FormatCost(value, metric, kPageTextStyle);
}

std::string Interval(const stats::Quantile& quantile, stats::Metric metric) {
  return draw::FormatInterval(quantile.low, quantile.high, " – ", metric, kPageTextStyle);
}

// The metric that the overview shows: time, if there is one.
const std::pair<const stats::Metric, analysis::MetricSummary>* FirstOf(
    const analysis::CostSummary& summary) {
  const auto time = summary.metrics.find(
      summary.IsOnlyOfBusyMachines() ? stats::Metric::kWallTimeBusy : stats::Metric::kWallTime);
  const auto chosen = time == summary.metrics.end() ? summary.metrics.begin() : time;
  return chosen == summary.metrics.end() ? nullptr : &*chosen;
}

draw::Bars MetricBars(stats::Metric metric, const analysis::MetricSummary& numbers) {
  return draw::BarsOf(numbers.sums, numbers.figures, metric);
}

std::vector<std::string> OverviewLine(const analysis::CostSummary& summary, std::size_t number,
                                      const SpectrumScale& scale) {
  std::vector<std::string> line = {
      NameHtml(names::DemangledName(summary.api.symbol), fmt::format("#api{}", number),
               fmt::format("{} {}", summary.api.soname, summary.api.package_version))};
  const auto* first = FirstOf(summary);
  if (first == nullptr) {
    line.resize(kOverviewColumns);
    return line;
  }
  const auto& [metric, numbers] = *first;
  line.push_back(scale.Cell(MetricBars(metric, numbers), metric));
  line.emplace_back(stats::Name(metric));
  line.push_back(draw::FormatCount(numbers.figures.calls));
  for (const auto which :
       {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
    line.push_back(draw::EscapeHtml(QuantileText(numbers.figures, which, metric, kPageTextStyle)));
  }
  return line;
}

std::string Overview(const std::vector<analysis::CostSummary>& summaries, std::size_t shown) {
  SpectrumScale scale;
  for (std::size_t i = 0; i < shown; ++i) {
    if (const auto* first = FirstOf(summaries[i])) {
      scale.Add(MetricBars(first->first, first->second), first->first);
    }
  }
  using enum ColumnKind;
  PageTable table{.id = "costs",
                  .title = "Costs",
                  .caption = "n = measured values. Spectrum: " + scale.Words(),
                  .columns = {{"API", kName},
                              scale.Column(),
                              {"Metric", kText, true},
                              {"n", kNumber},
                              {"p50", kNumber},
                              {"p95", kNumber},
                              {"p99", kNumber}},
                  .lines = {}};
  for (std::size_t i = 0; i < shown; ++i) {
    table.lines.push_back(OverviewLine(summaries[i], i + 1, scale));
  }
  std::string html = SectionHtml(table);
  if (shown < summaries.size()) {
    html += fmt::format("<p>{} of {} APIs. All: <code>fieldcost top --local --limit 0</code></p>\n",
                        shown, summaries.size());
  }
  return html;
}

std::string Waiting(const std::set<std::string>& untrusted_symbols) {
  if (untrusted_symbols.empty()) return "";
  return fmt::format("<p class=\"soft\">{}.</p>\n",
                     draw::EscapeHtml(WaitingText(untrusted_symbols)));
}

std::string Buckets(stats::Metric metric, const stats::CostHistogram& histogram) {
  using enum ColumnKind;
  const std::string unit(stats::Unit(metric));
  PageTable table{.id = {},
                  .title = "Buckets in numbers",
                  .caption = {},
                  .columns = {{fmt::format("from ({})", unit), kName},
                              {fmt::format("to ({})", unit), kText},
                              {"n", kNumber},
                              {fmt::format("sum ({})", unit), kNumber}},
                  .lines = {}};
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = histogram.bucket(slot);
    if (bucket.count == 0) continue;
    table.lines.push_back({draw::Decimal(shm::SlotMin(slot)), draw::Decimal(shm::SlotMax(slot)),
                           draw::FormatCount(bucket.count), draw::Decimal(bucket.sum)});
  }
  return FoldedHtml(table.title, table);
}

// Omits intervals of zero width.
std::string QuantileWords(const stats::Quantiles& quantiles, stats::Metric metric) {
  std::string html;
  for (const auto& [label, quantile] :
       {std::pair{"p50", &quantiles.p50}, {"p95", &quantiles.p95}, {"p99", &quantiles.p99}}) {
    html +=
        fmt::format("{}{} {}", html.empty() ? "" : ", ", label, Cost(quantile->estimate, metric));
    if (Cost(quantile->low, metric) == Cost(quantile->high, metric)) continue;
    html += fmt::format(" <span class=\"soft\">({})</span>", Interval(*quantile, metric));
  }
  return html;
}

std::string Numbers(const stats::CallFigures& calls, stats::Metric metric) {
  if (calls.totals.count == 1)
    return fmt::format("<p>one call: {}</p>\n", Cost(calls.mean, metric));
  return fmt::format("<p>n {}, mean {}, standard deviation {}</p>\n<p>{}</p>\n",
                     draw::FormatCount(calls.totals.count), Cost(calls.mean, metric),
                     draw::FormatSpread(calls.standard_deviation, metric, kPageTextStyle),
                     QuantileWords(calls.quantiles, metric));
}

std::string Detail(const analysis::CostSummary& summary, std::size_t number) {
  const std::string name =
      fmt::format("{}!{}", summary.api.soname, names::DemangledName(summary.api.symbol));
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
    html += fmt::format("<h4>{}</h4>\n{}", stats::Name(metric), Numbers(calls, metric));
    html += draw::HistogramSvg(draw::CountBars(numbers.sums.histogram, metric), metric, name) +
            "\n" + Buckets(metric, numbers.sums.histogram);
  }
  for (const NotMeasuredPart& part : NotMeasuredParts(summary)) {
    html += fmt::format("<p>not measured: {}</p>\n", draw::EscapeHtml(Text(part)));
  }
  return html + "</article>\n";
}

}  // namespace

std::string CostPage(const CostPageContent& content) {
  const std::size_t shown = std::min(content.summaries.size(), kMaxPageApis);
  std::string html = PageBegin("fieldcost: costs on this machine");
  html += fmt::format(
      "<header>\n<h1>What library functions cost on this machine</h1>\n"
      "<p class=\"soft\">Made {} by <code>fieldcost agent view</code> from what was measured here. "
      "This file fetches and sends nothing. Run the command again for fresh numbers.</p>\n"
      "</header>\n<main>\n",
      draw::FormatTime(content.made));
  if (content.summaries.empty()) {
    html += "<h2>Costs</h2>\n";
    html += content.waiting.empty()
                ? "<p>Nothing has been measured yet: <code>fieldcost run -- PROGRAM</code></p>"
                : Waiting(content.waiting);
    html += Facts(content.facts);
  } else {
    html += Overview(content.summaries, shown) + Waiting(content.waiting) + Facts(content.facts);
    html +=
        "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Each in detail</h2>\n"
        "<div class=\"cards\">\n";
    for (std::size_t i = 0; i < shown; ++i) html += Detail(content.summaries[i], i + 1);
    html += "</div>\n</section>\n";
  }
  return html + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
