#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::report {

// Converts a name into a file name that is valid on any file system and, unescaped, in any URL:
// letters, digits, '_', '-' and '.' stay; every other byte (and a leading '.' or '-') becomes ~XX.
// Different names give different results; long ones end with a hash.
std::string SafeFileName(std::string_view untrusted_name);

inline constexpr std::size_t kMaxFileNameBytes = 160;

// Assigns such names, distinct even if case is ignored. Not thread-safe.
class FileNames {
 public:
  std::string Take(std::string_view untrusted_name);

 private:
  std::set<std::string> taken_;  // in lower case
};

// The page of an API among those of many libraries: "SONAME/SYMBOL.html" with such names. None is
// an "index.html", which lists the others. Where file names ignore case, names that differ only in
// case share a page.
std::string PagePath(const stats::ApiKey& untrusted_api);

}  // namespace fieldcost::report
