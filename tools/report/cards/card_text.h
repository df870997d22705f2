#pragma once

#include <string>
#include <string_view>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

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
