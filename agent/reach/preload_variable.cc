#include "agent/reach/preload_variable.h"

#include <cstdlib>

#include "agent/reach/reach.h"
#include "common/base/text.h"

namespace fieldcost::reach {

std::string PreloadWith(const std::filesystem::path& library) {
  const char* const present = std::getenv("LD_PRELOAD");
  return PreloadWith(library, present == nullptr ? "" : present);
}

std::string PreloadWith(const std::filesystem::path& library, std::string_view present) {
  std::string preload = library.string();
  for (const std::string_view one : Split(present, ": ")) {
    const bool is_fields = std::filesystem::path(one).filename() == kPreloadLibraryName;
    if (one.empty() || is_fields) continue;
    if (!preload.empty()) preload += ':';
    preload += one;
  }
  return preload;
}

}  // namespace fieldcost::reach
