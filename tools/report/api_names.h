#pragma once

#include <map>
#include <string>
#include <tuple>

#include "common/draw/terminal.h"
#include "common/draw/text_table.h"
#include "common/stats/api_key.h"

namespace fieldcost::report {

// How each API is called in a table: in short, unless another one of that library and version would
// be called the same; then in full, with its symbol version. A plain value.
class ApiNames {
 public:
  // First all that the table will show.
  void Add(const stats::ApiKey& api) { ++count_[KeyOf(api)]; }

  // Escaped, at most kMaxApiWidth columns. REQUIRES: it was added.
  std::string Of(const stats::ApiKey& api, const draw::Style& style) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key KeyOf(const stats::ApiKey& api);

  std::map<Key, int> count_;
};

// In tables of text: the columns that names take at most, and may be shortened to.
inline constexpr std::size_t kMaxApiWidth = 60;
inline constexpr std::size_t kLeastApiWidth = 16;
inline constexpr std::size_t kLeastLibraryWidth = 10;

// The column of a table that names libraries.
draw::TextColumn LibraryColumn(unsigned rank);

}  // namespace fieldcost::report
