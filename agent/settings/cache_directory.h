#pragma once

#include <filesystem>

namespace fieldcost::settings {

// Where a user's pages are written that can be written again at any time: $FIELDCOST_HOME/cache,
// otherwise $XDG_CACHE_HOME/fieldcost, otherwise .cache/fieldcost in HomeDirectory(). A variable
// that is not an absolute path is ignored. The directory need not exist.
std::filesystem::path CacheDirectory();

}  // namespace fieldcost::settings
