#pragma once

#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

enum class CardTheme { kLight, kDark };

// A picture with its own background, of 480 x 196 pixels: numbers, and one bar per bucket from
// cheap (left) to expensive (right), higher = more often. <title> and <desc> have the same as text;
// colour only repeats the position of a bar. No script, style, font or reference.
std::string CardSvg(const CostCard& card, CardTheme theme);

}  // namespace fieldcost::report
