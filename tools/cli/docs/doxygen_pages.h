#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::cli {

// Reads Doxygen's output and inserts cards into it. Developed with version 1.9.4. Pure.

inline constexpr std::size_t kMaxTagFileBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxPageBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxTagDepth = 16;  // nesting of elements

// A function that has its own description.
struct DocumentedFunction {
  std::string name;    // "inflate", "Json::Value::isMember"
  std::string page;    // file name below the HTML directory
  std::string anchor;  // within the page
  bool operator==(const DocumentedFunction&) const = default;
};

// Returns the functions of a tag file (GENERATE_TAGFILE), in its order. kCorrupt unless it is an
// XML tag file whose pages lie in the HTML directory.
Result<std::vector<DocumentedFunction>> ReadTagFile(std::string_view untrusted_xml);

// The page without the cards of an earlier run, and with those of `card_of` at the top of each
// anchor's description, if it has one. A second run produces the same bytes.
struct PageWithCards {
  std::string html;
  std::size_t cards = 0;
};
PageWithCards InsertCards(std::string_view untrusted_html,
                          const std::map<std::string, std::string>& card_of);

}  // namespace fieldcost::cli
