#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/common/stats/published_row.h"

namespace fieldcost::analysis {

// A published row of an API with calls of these costs.
inline stats::StatRow Row(const std::string& soname, const std::string& symbol,
                          stats::Metric metric, const std::vector<std::uint64_t>& values,
                          std::uint64_t contributions) {
  stats::StatRow row;
  row.key.api = {soname, "1.2-3", "00ff", symbol, ""};
  row.key.metric = metric;
  for (const std::uint64_t value : values) row.histogram.Add(value);
  row.scalars.contributions = contributions;
  return testing::AsPublished(row);
}

// 20 machines with 10 calls of 20 ns, and one with `calls` of 5,000 ns.
inline stats::StatRow OneHeavyCaller(std::uint64_t calls = 100'000) {
  std::vector<stats::CostHistogram> contributions(20, testing::Calls(10, 20));
  contributions.push_back(testing::Calls(calls, 5000));
  return testing::PublishedRow({.api = {"liba.so.1", "1.2-3", "00ff", "work", ""}}, contributions);
}

}  // namespace fieldcost::analysis
