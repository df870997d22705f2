#include "tools/report/cost_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tools/report/card_words.h"
#include "tools/report/html.h"
#include "tools/report/namespace_of.h"
#include "tools/report/numbers.h"
#include "tools/report/version_order.h"

namespace fieldcost::report {

std::vector<CostCard> CardsOf(std::vector<CostSummary> summaries, const Provenance& provenance) {
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const CostSummary& a, const CostSummary& b) {
                     const auto name = [](const CostSummary& summary) {
                       return std::tie(summary.api.soname, summary.api.symbol);
                     };
                     if (name(a) != name(b)) return name(a) < name(b);
                     return OlderVersion()(b.api.package_version, a.api.package_version);
                   });
  std::vector<CostCard> cards;
  for (CostSummary& summary : summaries) {
    if (cards.empty() || ApiOf(cards.back()).soname != summary.api.soname ||
        ApiOf(cards.back()).symbol != summary.api.symbol) {
      cards.push_back({.versions = {}, .untrusted_link = "", .provenance = provenance});
    }
    cards.back().versions.push_back(std::move(summary));
  }
  return cards;
}

const stats::ApiKey& ApiOf(const CostCard& card) { return card.versions.front().api; }

std::string CardHtml(const CostCard& card, const CardPictures& pictures) {
  const CardWords words = WordsOf(card);
  std::string html = fmt::format(
      "{}\n<section class=\"fieldcost-card\" aria-label=\"Cost of {}\">\n<p><strong>Cost</strong> "
      "of <code>{}</code>, {}</p>\n",
      kCardBegin, EscapeHtml(words.name), EscapeHtml(words.name), EscapeHtml(words.subject));
  if (card.provenance.synthetic) {
    html += fmt::format("<p><strong>{}</strong></p>\n", kSyntheticWords);
  }
  if (pictures.light.empty()) {
    html += fmt::format("<p>{}</p>\n", words.spectrum_svg);
  } else {
    html += fmt::format(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
        "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"></picture>\n",
        EscapeHtml(pictures.dark), EscapeHtml(pictures.light), kCardWidth, kCardHeight,
        EscapeHtml(words.sentence));
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
        EscapeHtml(line.version), line.p50, line.p95, line.p99, line.mean, line.count,
        line.contributions);
  }
  html += fmt::format("</tbody>\n</table>\n<p><small>{}</small></p>\n",
                      EscapeHtml(words.footer + std::string(kBarsWords)));
  if (!card.untrusted_link.empty()) {
    html += fmt::format("<p><a href=\"{}\">Everything about {}</a></p>\n",
                        EscapeHtml(card.untrusted_link), EscapeHtml(words.name));
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
      EscapeHtml(WordsOf(card).name), CardHtml(card, pictures));
}

}  // namespace fieldcost::report
