#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "common/stats/stat_row.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {

// Where `top` and `show` take their rows from: the catalogue, or this machine's own measurements
// (harvested first). Neither uses the network.
class Source {
 public:
  static Result<Source> Open(bool local);

  // Set for the catalogue.
  const std::optional<catalog::Freshness>& freshness() const { return freshness_; }

  // Summaries of all APIs whose soname matches the glob (empty = all), in no particular order.
  Result<std::vector<report::CostSummary>> Summaries(std::string_view library_glob) const;

  // All rows of that symbol, of all libraries or of one.
  Result<std::vector<stats::StatRow>> Find(std::string_view symbol, std::string_view soname) const;

  // "soname!symbol" names to offer for a name that was not found.
  Result<std::vector<std::string>> Suggest(std::string_view symbol) const;

 private:
  Source() = default;
  std::optional<catalog::Catalog> catalog_;
  std::optional<catalog::Freshness> freshness_;
  std::vector<stats::StatRow> local_rows_;
};

}  // namespace fieldcost::cli
