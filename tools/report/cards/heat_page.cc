#include "tools/report/cards/heat_page.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/check.h"
#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg.h"
#include "tools/analysis/version_order.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/figure_text.h"
#include "tools/report/freshness_text.h"
#include "tools/report/not_measured.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"

namespace fieldcost::report {
namespace {

struct Version {
  std::string untrusted_name;
  const analysis::MetricSummary* numbers = nullptr;
  draw::Bars bars;
};

std::vector<Version> VersionsOf(const CostCard& card, stats::Metric metric) {
  std::vector<Version> versions;
  for (const analysis::CostSummary& summary : card.versions) {
    const analysis::MetricSummary* numbers = summary.Find(metric);
    if (numbers == nullptr) continue;
    versions.push_back({.untrusted_name = analysis::VersionOf(summary.api),
                        .numbers = numbers,
                        .bars = draw::BarsOf(numbers->sums, numbers->figures, metric)});
  }
  return versions;
}

std::string Numbers(const std::vector<Version>& versions, stats::Metric metric) {
  using enum ColumnKind;
  PageTable table{.id = {},
                  .title = "Numbers of each version",
                  .caption = {},
                  .columns = {{"Version", kName},
                              {"n", kNumber},
                              {"Contributions", kNumber, true},
                              {"p50", kNumber},
                              {"p95", kNumber},
                              {"p99", kNumber},
                              {"Mean", kNumber}},
                  .lines = {}};
  for (const Version& version : versions) {
    const stats::Figures& figures = version.numbers->figures;
    std::vector<std::string> line = {NameHtml(version.untrusted_name, "", ""),
                                     draw::FormatCount(figures.calls),
                                     draw::FormatCount(figures.contributions)};
    for (const auto which :
         {&stats::Quantiles::p50, &stats::Quantiles::p95, &stats::Quantiles::p99}) {
      line.push_back(draw::EscapeHtml(QuantileText(figures, which, metric, kPageTextStyle)));
    }
    line.push_back(draw::EscapeHtml(draw::FormatCost(figures.mean, metric, kPageTextStyle)));
    table.lines.push_back(std::move(line));
  }
  return TableHtml(table);
}

std::string MetricHtml(const CostCard& card, stats::Metric metric, std::string_view name) {
  const std::vector<Version> versions = VersionsOf(card, metric);
  std::vector<draw::HeatLine> lines;
  for (const Version& version : versions) {
    const bool knows_calls = version.numbers->figures.all_calls.has_value();
    lines.push_back({.untrusted_label = version.untrusted_name,
                     .bars = version.bars,
                     .means = knows_calls ? &version.numbers->sums.histogram : nullptr});
  }
  const std::string map = draw::HeatMapSvg(lines, metric, name);
  return fmt::format("<article>\n<h3>{}</h3>\n{}\n{}</article>\n", stats::Name(metric),
                     map.empty() ? "<p>no histogram</p>" : map, Numbers(versions, metric));
}

std::string CardSection(const CostCard& card, std::size_t number) {
  const CardWords words = WordsOf(card);
  std::string html = fmt::format(
      "<section aria-labelledby=\"api{0}\">\n<h2 id=\"api{0}\">{1}</h2>\n<p "
      "class=\"lead\">{2}</p>\n"
      "<p class=\"soft\">{3}</p>\n",
      number, draw::EscapeHtml(words.name), draw::EscapeHtml(words.range),
      draw::EscapeHtml(fmt::format("{}; {}; {}", words.subject, words.basis, words.snapshot)));
  for (const auto& [metric, numbers] : card.versions.front().metrics) {
    html += MetricHtml(card, metric, words.name);
  }
  for (const NotMeasuredPart& part : NotMeasuredParts(card.versions.front())) {
    html += fmt::format("<p>not measured: {}</p>\n", draw::EscapeHtml(Text(part)));
  }
  return html + "</section>\n";
}

}  // namespace

std::string HeatPage(std::span<const CostCard> cards, const HeatPageLinks& links) {
  FIELDCOST_CHECK(!cards.empty());
  const std::string name = WordsOf(cards.front()).function;
  std::string html = PageBegin("fieldcost: cost of " + name);
  html += links.before_html;
  html += fmt::format("<header>\n<h1>Cost of {}</h1>\n", draw::EscapeHtml(name));
  if (cards.front().provenance.synthetic) {
    html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
  }
  html +=
      "<p class=\"soft\">Each row is a version, the newest first; each column is a cost, from "
      "cheap "
      "(left) to expensive (right). The stronger a square, the more of the version's calls cost "
      "that. Point at a square for its share and its mean.</p>\n</header>\n<main>\n";
  for (std::size_t i = 0; i < cards.size(); ++i) html += CardSection(cards[i], i + 1);
  return html + links.after_html + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
