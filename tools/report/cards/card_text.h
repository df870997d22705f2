#pragma once

#include <string>
#include <string_view>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

// The card as Markdown (CommonMark with tables).
std::string CardMarkdown(const CostCard& card, const CardPictures& pictures);

// The card as a section COST in roff, for a page that uses the macros of man(7) or mdoc(7).
enum class RoffMacros { kMan, kMdoc };
std::string CardRoff(const CostCard& card, RoffMacros macros);

// Escapes text for use within a line of Markdown: nothing in it is markup or a link; control
// characters become \xNN.
std::string EscapeMarkdown(std::string_view untrusted_text);
// Escapes text for use within a line of roff, but not at its beginning.
std::string EscapeRoff(std::string_view untrusted_text);

}  // namespace fieldcost::report
