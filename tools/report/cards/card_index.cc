#include "tools/report/cards/card_index.h"

#include <fmt/format.h>

#include "common/draw/html.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/cards/card_text.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"

namespace fieldcost::report {

std::string ListMarksHtml(const Provenance& provenance) {
  std::string html;
  if (provenance.synthetic) html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
  if (provenance.incomplete) html += fmt::format("<p class=\"warn\">{}</p>\n", kIncompleteWords);
  return html;
}

std::string CardIndexHtml(std::span<const IndexedCard> cards, const Provenance& provenance,
                          const CardIndexHead& head) {
  using enum ColumnKind;
  SpectrumScale scale;
  for (const IndexedCard& indexed : cards) {
    const Shown shown = ShownOf(*indexed.card);
    scale.Add(BarsOf(shown), shown.metric);
  }
  PageTable table{.id = "costs",
                  .title = "Costs of library functions",
                  .caption = "The version installed here of each, otherwise the newest." +
                             std::string(kBarsWords),
                  .columns = {{"API", kName},
                              scale.Column(),
                              {"p50", kNumber},
                              {"p99", kNumber},
                              {"Contributions", kNumber, true},
                              {"Version", kText, true}},
                  .lines = {}};
  for (const IndexedCard& indexed : cards) {
    const CardWords words = WordsOf(*indexed.card);
    const Shown shown = ShownOf(*indexed.card);
    const CardLine& newest = words.lines.front();
    table.lines.push_back(
        {NameHtml(words.function, indexed.path + ".html", ApiOf(*indexed.card).soname),
         scale.Cell(BarsOf(shown), shown.metric), draw::EscapeHtml(newest.p50),
         draw::EscapeHtml(newest.p99), newest.contributions, draw::EscapeHtml(newest.version)});
  }
  const std::string title = draw::EscapeHtml(head.untrusted_title);
  return PageBegin(head.untrusted_title) + head.navigation_html +
         fmt::format("<main>\n<h1>{}</h1>\n", title) + ListMarksHtml(provenance) +
         TableHtml(table) + "</main>\n" + PageEnd();
}

std::string CardIndexMarkdown(std::span<const IndexedCard> cards, const Provenance& provenance) {
  std::string markdown = "# Costs of library functions\n\n";
  if (provenance.synthetic) markdown += fmt::format("**{}**\n\n", kSyntheticWords);
  if (provenance.incomplete) markdown += fmt::format("**{}**\n\n", kIncompleteWords);
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
