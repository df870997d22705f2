#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace fieldcost::analysis {

// Groups C functions by the prefixes that their names share.
//
// A prefix ends after an underscore ("g_", "g_hash_", "g_hash_table_") or before a capital letter
// that follows a small letter or a digit ("inflate" in inflateEnd, "sqlite3Vdbe"). The word before
// the capital letter has at least two characters, so png_set_sRGB has no prefix "png_set_s".
// Leading underscores belong to the first word. A whole name is a prefix too, with or without a
// final underscore: inflate belongs to "inflate", crc32 to "crc32_".
//
// Prefixes are examined from the longest to the shortest. A prefix that at least kLeastPrefixNames
// ungrouped names share becomes a group and takes these names; others wait for a shorter prefix.

inline constexpr std::size_t kLeastPrefixNames = 3;
inline constexpr std::size_t kMostPrefixBytes = 64;  // longer ones are not considered
inline constexpr std::string_view kOtherNames = "(other)";

// Returns the prefix of each name, kOtherNames for those without a group. Depends only on the set.
std::map<std::string, std::string> GroupByPrefix(const std::set<std::string>& untrusted_names);

}  // namespace fieldcost::analysis
