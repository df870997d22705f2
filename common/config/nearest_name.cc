#include "common/config/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace fieldcost::config {
namespace {

std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearest = std::min_element(candidates.begin(), candidates.end(),
                                        [name](const std::string& left, const std::string& right) {
                                          return Distance(name, left) < Distance(name, right);
                                        });
  return nearest == candidates.end() ? std::string() : *nearest;
}

}  // namespace fieldcost::config
