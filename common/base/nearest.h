#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost {

// What was meant by a mistyped name, by optimal string alignment distance (Levenshtein's, and an
// exchange of neighbours is one edit): the fewest insertions, deletions, replacements and exchanges
// of single characters. Time: the product of the sizes, so for names, not texts. Pure.

// How far a mistyped name may be from what was meant: a third of it, at least 1 edit.
std::size_t MaxEdits(std::string_view name);

// The distance of `a` and `b`; limit + 1 if it is above `limit`.
std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

// The candidate that is nearest, however far; the first of several. "" if there are no candidates.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

// The same if it is within MaxEdits(); else "".
std::string MeantName(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace fieldcost
