#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// The display name of a library's version: its package's version, or "build-id 00ff" if it belongs
// to no package, or "unknown".
std::string VersionOf(const stats::ApiKey& api);

// Which of two versions is newer, by the rules of Debian Policy §5.6.12:
// [epoch:]upstream[-revision], compared alternately by non-digits (~ before everything, even the
// end; letters before other characters) and by number. A total order: any text is a version.
// Versions are equal only if dpkg considers them equal (1.0 and 1.00 are), so also order by name
// where that matters. Versions that are not from a package have no order in time. Pure.
std::weak_ordering CompareVersions(std::string_view a, std::string_view b);

// Older versions first; ties by text.
struct OlderVersion {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace fieldcost::analysis
