#include "common/tree/match.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "common/base/check.h"

namespace fieldcost::tree {

Result<MatchedMetrics> MatchMetrics(std::span<const std::vector<Metric>* const> lists) {
  FIELDCOST_CHECK(!lists.empty());
  struct Found {
    Metric metric;
    std::vector<std::size_t> columns;
  };
  std::map<std::string_view, Found> by_name;
  for (const std::vector<Metric>* list : lists) {
    for (std::size_t column = 0; column < list->size(); ++column) {
      const Metric& metric = (*list)[column];
      Found& found = by_name.try_emplace(metric.name, Found{metric, {}}).first->second;
      if (found.metric.unit != metric.unit) {
        return Fail(ErrorCode::kInvalidArgument,
                    "metric {} is in {} in one tree and in {} in another", metric.name,
                    Name(found.metric.unit), Name(metric.unit));
      }
      found.metric.per_sample = std::max(found.metric.per_sample, metric.per_sample);
      found.columns.push_back(column);
    }
  }
  MatchedMetrics matched;
  matched.columns.resize(lists.size());
  for (const auto& [name, found] : by_name) {
    if (found.columns.size() != lists.size()) {
      matched.remarks.push_back(
          fmt::format("metric {} is not in all of the trees: left out", name));
      continue;
    }
    matched.metrics.push_back(found.metric);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      matched.columns[i].push_back(found.columns[i]);
    }
  }
  if (matched.metrics.empty() && !by_name.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the trees have no metric in common");
  }
  return matched;
}

}  // namespace fieldcost::tree
