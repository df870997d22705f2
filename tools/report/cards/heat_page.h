#pragma once

#include <span>
#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

// The cost of an API in each version, as a self-contained HTML document without scripts: per metric
// a heat map with one line per version (newest first) and one column per bucket, all on one scale;
// and the numbers. Several APIs follow one another. Names are escaped. Deterministic. REQUIRES: at
// least one card.
struct HeatPageLinks {
  std::string before_html;  // our own HTML above the heading, and at the end
  std::string after_html;
};
std::string HeatPage(std::span<const CostCard> cards, const HeatPageLinks& links = {});

}  // namespace fieldcost::report
