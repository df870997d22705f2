#pragma once

#include <cstddef>
#include <string_view>

namespace fieldcost::catalog {

// How far a mistyped name may be from what was meant: a third of it, at least 1 edit.
std::size_t MaxEdits(std::string_view symbol);

// Levenshtein distance of `a` and `b`; limit + 1 if it is above `limit`.
std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace fieldcost::catalog
