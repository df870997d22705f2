#pragma once

#include <span>
#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

// An index of many cards: a table with one line per card, in the given order. Shows no order by
// cost and no share of the whole, because the catalogue may be incomplete; states if it is. Pure;
// thread-safe.

struct IndexedCard {
  const CostCard* card = nullptr;
  std::string path;  // a relative URL of the card's documents, without their suffix
};

struct CardIndexHead {
  std::string untrusted_title = "Costs of library functions";
  std::string navigation_html;  // our own HTML above the title
};

// Returns a self-contained document whose links lead to PATH.html.
std::string CardIndexHtml(std::span<const IndexedCard> cards, const Provenance& provenance,
                          const CardIndexHead& head = {});

// Returns the index as Markdown (CommonMark with tables), without spectra; links lead to PATH.md.
std::string CardIndexMarkdown(std::span<const IndexedCard> cards, const Provenance& provenance);

// Returns paragraphs that mark a list of functions if it is synthetic or incomplete.
std::string ListMarksHtml(const Provenance& provenance);

}  // namespace fieldcost::report
