#include "tools/cli/docs/docs_cards.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/text.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/report/link_template.h"

namespace fieldcost::cli {

Result<LibraryCards> LoadCards(const std::string& library, const std::string& link_template) {
  if (!link_template.empty()) FIELDCOST_TRY(report::CheckLinkTemplate(link_template));
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  FIELDCOST_ASSIGN(const std::string library_glob, source.LibraryGlob(library));
  FIELDCOST_ASSIGN(auto summaries, source.Summaries(library_glob));
  if (summaries.empty()) {
    return Fail(ErrorCode::kNotFound, "the catalogue has no data about {}",
                library_glob.empty() ? "any library" : EscapeControl(library_glob));
  }
  LibraryCards cards{
      .freshness = source.freshness(), .provenance = ProvenanceOf(source), .cards = {}};
  cards.cards =
      report::CardsOf(std::move(summaries), cards.provenance, analysis::AskPackageManager());
  for (report::CostCard& card : cards.cards) {
    card.untrusted_link = report::FillLink(link_template, ApiOf(card));
  }
  return cards;
}

}  // namespace fieldcost::cli
