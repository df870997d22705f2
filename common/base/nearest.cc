#include "common/base/nearest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace fieldcost {

std::size_t MaxEdits(std::string_view name) { return std::max<std::size_t>(1, name.size() / 3); }

std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1);  // the row before the previous one
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::size_t last_best = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    std::size_t best = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      best = std::min(best, row[j]);
    }
    if (best > limit && last_best > limit) return limit + 1;
    last_best = best;
  }
  return std::min(row[b.size()], limit + 1);
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max() - 1;
  const auto nearest = std::ranges::min_element(
      candidates, {}, [name](const std::string& one) { return EditDistance(name, one, kAny); });
  return nearest == candidates.end() ? std::string() : *nearest;
}

std::string MeantName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest = NearestName(name, candidates);
  const std::size_t most = MaxEdits(name);
  return EditDistance(name, nearest, most) <= most ? nearest : "";
}

}  // namespace fieldcost
