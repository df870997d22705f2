#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/stats/shape.h"

namespace fieldcost::draw {

// Drawings of lab results, in the style of svg.h: attributes only, each with a text description.
// Deterministic.

// How costs grow with an argument: one point per bucket of the argument, with its mean cost and
// number of calls, on log-log scales; the fitted curve; labelled axes. Empty without points.
std::string GrowthSvg(const stats::Growth& growth, std::string_view untrusted_name);

// Which functions shared a stack: one numbered line and column per function, with a square if the
// line's function had not returned when the column's was entered. Pairs are (line, column). Empty
// without names.
std::string PairsSvg(std::span<const std::string> untrusted_names,
                     const std::set<std::pair<std::uint32_t, std::uint32_t>>& pairs);

}  // namespace fieldcost::draw
