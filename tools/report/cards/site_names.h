#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "common/base/result.h"

namespace fieldcost::report {

// The names that a static site's index searches (page_parts/site_search.js), as a tree of small
// files: however many names there are, a query loads a few of them. They are scripts because
// browsers let pages in files load nothing else.
//
// The keys are all suffixes of the functions' names in lower case, so that a name is found by any
// part of it; a key that begins with a space marks the beginning of a name. Keys of a library's
// name lead to its functions. Runs of characters other than printable ASCII become one "?".
//
//   ~search/LEVEL/NUMBER.js: siteNode("LEVEL/NUMBER", CONTENT);
//   level 0: CONTENT = [[function, soname, page, cost], ...]: the functions of a range of keys;
//            page = "" if it is "soname/function.html"
//   others:  CONTENT = [first, [key, ...]]: the nodes first, first + 1, ... of the level below
//            begin with these keys, shortened
//
// Example: siteNode("0/3",[["crc32","libz.so.1","","1.5 µs"]]); and siteNode("1/0",[0,[""," c"]]);

inline constexpr std::size_t kSiteNodeBytes = 8 * 1024;  // at most one entry more
inline constexpr std::size_t kMaxSearchedBytes = 512;    // of a name; it is found by its beginning

struct SiteName {
  std::string untrusted_function;  // as displayed
  std::string untrusted_searched;  // without arguments
  std::string untrusted_soname;
  std::string page;  // a relative URL
  std::string cost;
};

using WriteSiteFile =
    std::function<Status(const std::string& relative_path, const std::string& bytes)>;

// Writes the files and returns the root, "LEVEL/NUMBER". Deterministic. Errors are those of
// `write`. REQUIRES: names are not empty.
Result<std::string> WriteSiteNames(std::span<const SiteName> names, const WriteSiteFile& write);

}  // namespace fieldcost::report
