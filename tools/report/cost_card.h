#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/stats/api_key.h"
#include "tools/report/cost_csv.h"
#include "tools/report/cost_table.h"

namespace fieldcost::report {

// One API's cost for documentation: a picture, and the same in HTML, Markdown and roff. Pure and
// deterministic; every name is escaped for where it stands. Each form says which version, how many
// calls and contributions, of which strata and how fresh, and whether the numbers are synthetic.

struct CostCard {
  std::vector<CostSummary> versions;  // of one soname and symbol, the newest first
  std::string untrusted_link;         // to the page with everything (link_template.h); may be empty
  Provenance provenance;
};

// The cards of summaries of many APIs, ordered by soname and symbol; versions by version_order.h.
// Links are empty.
std::vector<CostCard> CardsOf(std::vector<CostSummary> summaries, const Provenance& provenance);

// What a card is about. REQUIRES, here and below: card.versions is not empty.
const stats::ApiKey& ApiOf(const CostCard& card);

enum class CardTheme { kLight, kDark };

// A picture with its own background, of 480 x 196 pixels: numbers, and a bar a bucket from cheap
// (left) to dear (right), higher = more often. <title> and <desc> say all of it in words; colour
// only repeats what the place of a bar says. No script, style, font or reference.
std::string CardSvg(const CostCard& card, CardTheme theme);

// Where a document finds the pictures: relative URLs. Both empty = it has the picture inside, in
// the colours of the page.
struct CardPictures {
  std::string light;
  std::string dark;
};

// A part of an HTML document: picture, table of versions, link. Begins and ends with a line that
// has one of the two comments below, so that it can be found and replaced.
inline constexpr std::string_view kCardBegin = "<!-- fieldcost card: begin -->";
inline constexpr std::string_view kCardEnd = "<!-- fieldcost card: end -->";
std::string CardHtml(const CostCard& card, const CardPictures& pictures);

// A whole document with nothing but that.
std::string CardPage(const CostCard& card, const CardPictures& pictures);

// The same in Markdown (CommonMark with tables).
std::string CardMarkdown(const CostCard& card, const CardPictures& pictures);

// A section COST in roff, for a page in macros of man(7) or mdoc(7).
enum class RoffMacros { kMan, kMdoc };
std::string CardRoff(const CostCard& card, RoffMacros macros);

// Text from anywhere as Markdown text within a line: nothing in it is markup or a link, control
// characters become \xNN.
std::string EscapeMarkdown(std::string_view untrusted_text);
// Text from anywhere within a line of roff that does not begin with it.
std::string EscapeRoff(std::string_view untrusted_text);

}  // namespace fieldcost::report
