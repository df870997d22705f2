#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// How a library's version is called: its package's version, or "build-id 00ff" if it is from no
// package, or "unknown".
std::string VersionOf(const stats::ApiKey& api);

// Which of two versions is newer, by the rules of Debian Policy §5.6.12:
// [epoch:]upstream[-revision], compared in turns by non-digits (~ before everything, even the end;
// letters before other characters) and by number. Total: any text is a version; equal only if dpkg
// takes them for equal (1.0 and 1.00 are), so order by name, too, where that matters. Versions that
// are no package's have no order in time. Pure.
std::weak_ordering CompareVersions(std::string_view a, std::string_view b);

// Older ones first; equal ones by their text.
struct OlderVersion {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace fieldcost::analysis
