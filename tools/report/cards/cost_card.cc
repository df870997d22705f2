#include "tools/report/cards/cost_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/check.h"
#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/api_cost.h"
#include "tools/analysis/version_order.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"

namespace fieldcost::report {

std::vector<CostCard> CardsOf(std::vector<analysis::CostSummary> summaries,
                              const Provenance& provenance,
                              const analysis::InstalledVersion& installed) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const analysis::CostSummary& a, const analysis::CostSummary& b) {
                     const auto name = [](const analysis::CostSummary& summary) {
                       return std::tie(summary.api.soname, summary.api.symbol);
                     };
                     if (name(a) != name(b)) return name(a) < name(b);
                     return analysis::OlderVersion()(b.api.package_version, a.api.package_version);
                   });
  std::vector<CostCard> cards;
  for (analysis::CostSummary& summary : summaries) {
    if (cards.empty() || ApiOf(cards.back()).soname != summary.api.soname ||
        ApiOf(cards.back()).symbol != summary.api.symbol) {
      cards.push_back({.versions = {}, .untrusted_link = "", .provenance = provenance});
    }
    cards.back().versions.push_back(std::move(summary));
  }
  for (CostCard& card : cards) {
    card.is_installed = analysis::PutInstalledFirst(card.versions, installed);
  }
  return cards;
}

const stats::ApiKey& ApiOf(const CostCard& card) {
  FIELDCOST_CHECK(!card.versions.empty());
  return card.versions.front().api;
}

std::string DocumentedName(const CostCard& card) {
  return names::NameWithoutArguments(names::DemangledName(ApiOf(card).symbol));
}

namespace {

std::string Versions(const CardWords& words) {
  using enum ColumnKind;
  PageTable table{.id = {},
                  .title = "Cost of each version",
                  .caption = {},
                  .columns = {{"Version", kName},
                              {"p50", kNumber},
                              {"p95", kNumber},
                              {"p99", kNumber},
                              {"Mean", kNumber},
                              {"Calls timed", kNumber},
                              {"Contributions", kNumber}},
                  .lines = {}};
  for (const CardLine& line : words.lines) {
    table.lines.push_back({draw::EscapeHtml(line.version), draw::EscapeHtml(line.p50),
                           draw::EscapeHtml(line.p95), draw::EscapeHtml(line.p99),
                           draw::EscapeHtml(line.mean), line.count, line.contributions});
  }
  return TableHtml(table);
}

std::string Picture(const CardWords& words, const CardPictures& pictures) {
  if (pictures.light.empty()) return fmt::format("<p>{}</p>\n", words.spectrum_svg);
  return fmt::format(
      "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
      "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"></picture>\n",
      draw::EscapeHtml(pictures.dark), draw::EscapeHtml(pictures.light), kCardWidth, kCardHeight,
      draw::EscapeHtml(words.sentence));
}

}  // namespace

std::string CardHtml(const CostCard& card, const CardPictures& pictures) {
  const CardWords words = WordsOf(card);
  const CardLine& newest = words.lines.front();
  const bool folded = pictures.light.empty();
  const std::string_view synthetic = card.provenance.synthetic ? kSyntheticWords : "";
  std::string html =
      fmt::format("{}\n<section class=\"fieldcost-card\" aria-label=\"Cost of {}\">\n", kCardBegin,
                  draw::EscapeHtml(words.name));
  if (folded) {
    html += fmt::format(
        "<details><summary><strong>Cost</strong>: p50 {}, p95 {}, p99 {}{}{}</summary>\n",
        draw::EscapeHtml(newest.p50), draw::EscapeHtml(newest.p95), draw::EscapeHtml(newest.p99),
        synthetic.empty() ? "" : "; ", synthetic);
  }
  html += fmt::format("<p><strong>Cost</strong> of <code>{}</code>, {}</p>\n",
                      draw::EscapeHtml(words.name), draw::EscapeHtml(words.subject));
  if (!synthetic.empty()) html += fmt::format("<p><strong>{}</strong></p>\n", synthetic);
  html += Picture(words, pictures) + Versions(words);
  html += fmt::format("<p><small>{}</small></p>\n",
                      draw::EscapeHtml(words.footer + std::string(kBarsWords)));
  if (!card.untrusted_link.empty()) {
    html += fmt::format("<p><a href=\"{}\">Everything about {}</a></p>\n",
                        draw::EscapeHtml(card.untrusted_link), draw::EscapeHtml(words.name));
  }
  if (folded) html += "</details>\n";
  return html + fmt::format("</section>\n{}\n", kCardEnd);
}

std::string WithoutCards(std::string_view untrusted_html) {
  std::string html;
  for (;;) {
    const std::size_t begin = untrusted_html.find(kCardBegin);
    const std::size_t end =
        begin == std::string_view::npos ? begin : untrusted_html.find(kCardEnd, begin);
    if (end == std::string_view::npos) return html.append(untrusted_html);
    html.append(untrusted_html.substr(0, begin));
    untrusted_html.remove_prefix(end + kCardEnd.size());
    if (untrusted_html.starts_with('\n')) untrusted_html.remove_prefix(1);
  }
}

std::string CardPage(const CostCard& card, const CardPictures& pictures) {
  return PageBegin("Cost of " + WordsOf(card).name, Pictures::kBeside) + "<main>\n" +
         CardHtml(card, pictures) + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
