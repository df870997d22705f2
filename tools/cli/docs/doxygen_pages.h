#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::cli {

// What Doxygen writes, and cards in it. Made with what 1.9.4 writes. Pure.

inline constexpr std::size_t kMaxTagFileBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxPageBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxTagDepth = 16;  // of elements in each other

// A function with a description of its own.
struct DocumentedFunction {
  std::string name;    // "inflate", "Json::Value::isMember"
  std::string page;    // file name below the HTML directory
  std::string anchor;  // in it
  bool operator==(const DocumentedFunction&) const = default;
};

// The functions of a tag file (GENERATE_TAGFILE), in its order. kCorrupt unless it is XML of that
// kind whose pages lie in the HTML directory.
Result<std::vector<DocumentedFunction>> ReadTagFile(std::string_view untrusted_xml);

// The page without cards of an earlier run, and with those of `card_of`: at the top of the
// description of each anchor, where it has one. The page of a second run has the same bytes.
struct PageWithCards {
  std::string html;
  std::size_t cards = 0;
};
PageWithCards InsertCards(std::string_view untrusted_html,
                          const std::map<std::string, std::string>& card_of);

}  // namespace fieldcost::cli
