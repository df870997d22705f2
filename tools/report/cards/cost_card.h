#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/stats/api_key.h"
#include "tools/analysis/installed_version.h"
#include "tools/analysis/summary.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {

// One API's cost for documentation: as a picture, HTML, Markdown and roff. Pure and deterministic;
// names are escaped for each form. Each form states the version, the number of calls and
// contributions, the strata, the age, and whether the numbers are synthetic.

struct CostCard {
  std::vector<analysis::CostSummary> versions;  // of one soname and symbol; the shown one first
  bool is_installed = false;                    // the first version is installed here
  std::string untrusted_link;                   // to the API's page (link_template.h); may be empty
  Provenance provenance;
};

// Builds the cards of many APIs from their summaries, ordered by soname and symbol. Within a card
// the installed version comes first, then the others by version_order.h. Links are empty.
std::vector<CostCard> CardsOf(std::vector<analysis::CostSummary> summaries,
                              const Provenance& provenance,
                              const analysis::InstalledVersion& installed = {});

// The API that a card describes. REQUIRES (here and below): card.versions is not empty.
const stats::ApiKey& ApiOf(const CostCard& card);

// The name of the function as documents contain it: C++ names demangled, without arguments.
std::string DocumentedName(const CostCard& card);

// Relative URLs of the pictures. Both empty = the picture is embedded, in the page's colours.
struct CardPictures {
  std::string light;
  std::string dark;
};

// A fragment of HTML: picture, table of versions, link. With an embedded picture it is one
// expandable line, so that the surrounding description stays readable. Its first and last lines
// contain the comments below, so that it can be found and replaced.
inline constexpr std::string_view kCardBegin = "<!-- fieldcost card: begin -->";
inline constexpr std::string_view kCardEnd = "<!-- fieldcost card: end -->";
std::string CardHtml(const CostCard& card, const CardPictures& pictures);

// A document without the cards that were inserted into it.
std::string WithoutCards(std::string_view untrusted_html);

// A complete document that contains only the card.
std::string CardPage(const CostCard& card, const CardPictures& pictures);

}  // namespace fieldcost::report
