#include "common/http/routes.h"

#include <algorithm>

namespace fieldcost::http {

bool PathFits(std::string_view pattern, const std::vector<std::string>& path) {
  pattern.remove_prefix(1);
  std::size_t i = 0;
  for (; !pattern.empty(); ++i) {
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    if (i == path.size() || (part != "*" && part != path[i])) return false;
    pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
  }
  return i == path.size();
}

}  // namespace fieldcost::http
