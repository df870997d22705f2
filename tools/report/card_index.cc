#include "tools/report/card_index.h"

#include <fmt/format.h>

#include "common/draw/html.h"
#include "tools/report/card_text.h"
#include "tools/report/card_words.h"

namespace fieldcost::report {

std::string CardIndexHtml(std::span<const IndexedCard> cards, bool synthetic) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
      "form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Costs of library functions"
      "</title>\n</head>\n<body>\n<main>\n<h1>Costs of library functions</h1>\n";
  if (synthetic) html += fmt::format("<p><strong>{}</strong></p>\n", kSyntheticWords);
  html += fmt::format(
      "<table>\n<caption>The newest version of each.{}</caption>\n<thead><tr><th "
      "scope=\"col\">API</th><th scope=\"col\">Spectrum</th><th scope=\"col\">p50</th><th "
      "scope=\"col\">p99</th><th scope=\"col\">Contributions</th><th scope=\"col\">Version</th>"
      "</tr></thead>\n<tbody>\n",
      kBarsWords);
  for (const IndexedCard& indexed : cards) {
    const CardWords words = WordsOf(*indexed.card);
    const CardLine& newest = words.lines.front();
    html += fmt::format(
        "<tr><th scope=\"row\"><a href=\"{}.html\">{}</a></th><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        draw::EscapeHtml(indexed.path), draw::EscapeHtml(words.name), words.spectrum_svg,
        newest.p50, newest.p99, newest.contributions, draw::EscapeHtml(newest.version));
  }
  return html + "</tbody>\n</table>\n</main>\n</body>\n</html>\n";
}

std::string CardIndexMarkdown(std::span<const IndexedCard> cards, bool synthetic) {
  std::string markdown = "# Costs of library functions\n\n";
  if (synthetic) markdown += fmt::format("**{}**\n\n", kSyntheticWords);
  markdown += "| API | p50 | p99 | Contributions | Version |\n|---|---:|---:|---:|---|\n";
  for (const IndexedCard& indexed : cards) {
    const CardWords words = WordsOf(*indexed.card);
    const CardLine& newest = words.lines.front();
    markdown += fmt::format("| [{}](<{}.md>) | {} | {} | {} | {} |\n", EscapeMarkdown(words.name),
                            indexed.path, newest.p50, newest.p99, newest.contributions,
                            EscapeMarkdown(newest.version));
  }
  return markdown;
}

}  // namespace fieldcost::report
