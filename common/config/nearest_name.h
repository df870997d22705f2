#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::config {

// The candidate that takes the fewest single-character insertions, deletions and replacements to
// make out of `name` (Levenshtein); the first of several. "" if there are no candidates.
// Time: name.size() * total size of the candidates, so for names, not texts.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace fieldcost::config
