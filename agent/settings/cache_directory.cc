#include "agent/settings/cache_directory.h"

#include <cstdlib>

#include "agent/settings/paths.h"

namespace fieldcost::settings {
namespace {

// The variable's value; empty unless it is an absolute path.
std::filesystem::path AbsoluteOf(const char* variable) {
  const char* const untrusted_value = std::getenv(variable);
  std::filesystem::path path(untrusted_value == nullptr ? "" : untrusted_value);
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

std::filesystem::path CacheDirectory() {
  const std::filesystem::path home = AbsoluteOf("FIELDCOST_HOME");
  if (!home.empty()) return home / "cache";
  const std::filesystem::path cache = AbsoluteOf("XDG_CACHE_HOME");
  return (cache.empty() ? HomeDirectory() / ".cache" : cache) / "fieldcost";
}

}  // namespace fieldcost::settings
