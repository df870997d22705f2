#pragma once

#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

enum class CardTheme { kLight, kDark };

// A picture with its own background, of 480 x 196 pixels: numbers, and a bar a bucket from cheap
// (left) to expensive (right), higher = more often. <title> and <desc> say all of it in words;
// colour only repeats what the place of a bar says. No script, style, font or reference.
std::string CardSvg(const CostCard& card, CardTheme theme);

}  // namespace fieldcost::report
