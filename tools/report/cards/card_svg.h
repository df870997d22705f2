#pragma once

#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

enum class CardTheme { kLight, kDark };

// Draws the card with its own background, 480 x 196 pixels: numbers, and one bar per bucket from
// cheap (left) to expensive (right), higher = more frequent. <title> and <desc> state the same as
// text; colour only repeats a bar's position. Uses no script, style, font or reference.
std::string CardSvg(const CostCard& card, CardTheme theme);

}  // namespace fieldcost::report
