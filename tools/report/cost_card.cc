#include "tools/report/cost_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/check.h"
#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/stats/cxx_name.h"
#include "tools/analysis/version_order.h"
#include "tools/report/card_words.h"

namespace fieldcost::report {

std::vector<CostCard> CardsOf(std::vector<analysis::CostSummary> summaries,
                              const Provenance& provenance) {
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
  return cards;
}

const stats::ApiKey& ApiOf(const CostCard& card) {
  FIELDCOST_CHECK(!card.versions.empty());
  return card.versions.front().api;
}

std::string CardHtml(const CostCard& card, const CardPictures& pictures) {
  const CardWords words = WordsOf(card);
  std::string html = fmt::format(
      "{}\n<section class=\"fieldcost-card\" aria-label=\"Cost of {}\">\n<p><strong>Cost</strong> "
      "of <code>{}</code>, {}</p>\n",
      kCardBegin, draw::EscapeHtml(words.name), draw::EscapeHtml(words.name),
      draw::EscapeHtml(words.subject));
  if (card.provenance.synthetic) {
    html += fmt::format("<p><strong>{}</strong></p>\n", kSyntheticWords);
  }
  if (pictures.light.empty()) {
    html += fmt::format("<p>{}</p>\n", words.spectrum_svg);
  } else {
    html += fmt::format(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
        "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"></picture>\n",
        draw::EscapeHtml(pictures.dark), draw::EscapeHtml(pictures.light), kCardWidth, kCardHeight,
        draw::EscapeHtml(words.sentence));
  }
  html +=
      "<table>\n<thead><tr><th scope=\"col\">Version</th><th scope=\"col\">p50</th>"
      "<th scope=\"col\">p95</th><th scope=\"col\">p99</th><th scope=\"col\">Mean</th>"
      "<th scope=\"col\">Calls timed</th><th scope=\"col\">Contributions</th></tr></thead>\n"
      "<tbody>\n";
  for (const CardLine& line : words.lines) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        draw::EscapeHtml(line.version), line.p50, line.p95, line.p99, line.mean, line.count,
        line.contributions);
  }
  html += fmt::format("</tbody>\n</table>\n<p><small>{}</small></p>\n",
                      draw::EscapeHtml(words.footer + std::string(kBarsWords)));
  if (!card.untrusted_link.empty()) {
    html += fmt::format("<p><a href=\"{}\">Everything about {}</a></p>\n",
                        draw::EscapeHtml(card.untrusted_link), draw::EscapeHtml(words.name));
  }
  return html + fmt::format("</section>\n{}\n", kCardEnd);
}

std::string CardPage(const CostCard& card, const CardPictures& pictures) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' "
      "file:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>Cost of {}</title>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      draw::EscapeHtml(WordsOf(card).name), CardHtml(card, pictures));
}

}  // namespace fieldcost::report
