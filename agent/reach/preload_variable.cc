#include "agent/reach/preload_variable.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "agent/reach/reach.h"

namespace fieldcost::agent {

std::string PreloadWith(const std::filesystem::path& library) {
  std::string preload = library.string();
  const char* const present = std::getenv("LD_PRELOAD");
  std::string_view rest = present == nullptr ? "" : present;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool is_fields = std::filesystem::path(one).filename() == kPreloadLibraryName;
    if (one.empty() || is_fields) continue;
    if (!preload.empty()) preload += ':';
    preload += one;
  }
  return preload;
}

}  // namespace fieldcost::agent
