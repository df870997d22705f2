#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/stats/shape.h"

namespace fieldcost::draw {

// Drawings of what only the lab knows, as those of svg.h are: everything is in attributes, each
// says in words what it shows. Deterministic.

// How costs grow with an argument: a point a bucket of it (log scales both), its mean cost and how
// many calls; the fitted curve; axes with their labels. Empty text without points.
std::string GrowthSvg(const stats::Growth& growth, std::string_view untrusted_name);

// Which of these are on a stack above which: a line and a column each, numbered; a square where the
// line's function was not finished when the column's was entered. Pairs are (line, column). Empty
// text without names.
std::string PairsSvg(std::span<const std::string> untrusted_names,
                     const std::set<std::pair<std::uint32_t, std::uint32_t>>& pairs);

}  // namespace fieldcost::draw
