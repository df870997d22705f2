#include "common/inference/benjamini_hochberg.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace fieldcost::inference {

std::vector<double> AdjustForFalseDiscoveries(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double least = 1;
  for (std::size_t rank = p_values.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    // Computes the quotient first, so that rounding cannot make the result of the last rank smaller
    // than its p.
    least = std::min(least, p_values[i] * (count / static_cast<double>(rank)));
    adjusted[i] = least;
  }
  return adjusted;
}

}  // namespace fieldcost::inference
