#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/stats/api_key.h"
#include "tools/analysis/installed_version.h"
#include "tools/analysis/summary.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {

// One API's cost for documentation: a picture, and the same in HTML, Markdown and roff. Pure and
// deterministic; every name is escaped for its place. Each form states the version, the number of
// calls and contributions, the strata, the age, and whether the numbers are synthetic.

struct CostCard {
  std::vector<analysis::CostSummary> versions;  // of one soname and symbol; the shown one first
  bool is_installed = false;                    // the first is installed here
  std::string untrusted_link;  // to the page with everything (link_template.h); may be empty
  Provenance provenance;
};

// The cards of summaries of many APIs, ordered by soname and symbol; versions by version_order.h,
// the installed one before them. Links are empty.
std::vector<CostCard> CardsOf(std::vector<analysis::CostSummary> summaries,
                              const Provenance& provenance,
                              const analysis::InstalledVersion& installed = {});

// The API that a card describes. REQUIRES, here and below: card.versions is not empty.
const stats::ApiKey& ApiOf(const CostCard& card);

// Where a document finds the pictures: relative URLs. Both empty = it has the picture inside, in
// the colours of the page.
struct CardPictures {
  std::string light;
  std::string dark;
};

// A part of an HTML document: picture, table of versions, link. With the picture inside it is one
// line that unfolds, so that a description that it stands in stays readable. Begins and ends with a
// line that has one of the two comments below, so that it can be found and replaced.
inline constexpr std::string_view kCardBegin = "<!-- fieldcost card: begin -->";
inline constexpr std::string_view kCardEnd = "<!-- fieldcost card: end -->";
std::string CardHtml(const CostCard& card, const CardPictures& pictures);

// A whole document with nothing but that.
std::string CardPage(const CostCard& card, const CardPictures& pictures);

}  // namespace fieldcost::report
