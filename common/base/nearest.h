#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost {

// Suggestions for mistyped names, by optimal string alignment distance (Levenshtein distance with
// transpositions): the fewest insertions, deletions, replacements and transpositions of single
// characters. Time: the product of the sizes, so use it for names, not long texts. Pure.

// The maximum distance between a mistyped name and a suggestion: a third of its size, at least 1.
std::size_t MaxEdits(std::string_view name);

// The distance between `a` and `b`, or limit + 1 if it exceeds `limit`.
std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

// The nearest candidate at any distance; the first in case of ties. "" without candidates.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

// The nearest candidate if it is within MaxEdits(), else "".
std::string MeantName(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace fieldcost
