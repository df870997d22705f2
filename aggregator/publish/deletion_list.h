#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::publish {

// The files of a public tree that its newest publication no longer lists, and when they may be
// deleted, in seconds since 1970 (Unix time). Paths are relative to the tree, as in
// "v1/fragment/<hex>".
using DeletionList = std::map<std::string, std::uint64_t>;

// Its file in the tree's directory.
inline constexpr char kDeletionsFile[] = "deletions";
inline constexpr std::size_t kMaxDeletions = std::size_t{1} << 20;
inline constexpr std::size_t kMaxDeletionsBytes = kMaxDeletions * 110;

// "<seconds> <path>\n" for each file, ascending by path (TREE.md).
std::string EncodeDeletions(const DeletionList& deletions);

// kCorrupt unless it is exactly such a list, of public paths; kTooLarge: more than kMaxDeletions.
Result<DeletionList> ParseDeletions(std::string_view untrusted_text);

}  // namespace fieldcost::publish
