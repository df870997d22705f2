#pragma once

#include <map>
#include <string>
#include <tuple>

#include "common/draw/terminal.h"
#include "common/draw/text_table.h"
#include "common/stats/api_key.h"

namespace fieldcost::report {

// Names of APIs in a table: short, unless another API of the same library and version has the same
// short name; then in full, with the symbol version. A plain value.
class ApiNames {
 public:
  // Call first, for all APIs of the table.
  void Add(const stats::ApiKey& api) { ++count_[KeyOf(api)]; }

  // Escaped, at most kMaxApiWidth columns. REQUIRES: it was added.
  std::string Of(const stats::ApiKey& api, const draw::Style& style) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key KeyOf(const stats::ApiKey& api);

  std::map<Key, int> count_;
};

// In text tables: the maximum width of names, and the width to which they may be shortened.
inline constexpr std::size_t kMaxApiWidth = 60;
inline constexpr std::size_t kLeastApiWidth = 16;
inline constexpr std::size_t kLeastLibraryWidth = 10;

// The column with the libraries' names.
draw::TextColumn LibraryColumn(unsigned rank);

}  // namespace fieldcost::report
