#include "tools/analysis/idle_matrix.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/idle/pair_path.h"

namespace fieldcost::analysis {
namespace {

using Sums = std::map<Doing, std::uint64_t>;

// The greatest, followed by nullopt for all others.
std::vector<std::optional<Doing>> Greatest(const Sums& sums, std::size_t most) {
  std::vector<std::pair<Doing, std::uint64_t>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           &std::pair<Doing, std::uint64_t>::second);
  std::vector<std::optional<Doing>> chosen;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 == most && sorted.size() > most) {
      chosen.emplace_back(std::nullopt);
      break;
    }
    chosen.emplace_back(sorted[i].first);
  }
  return chosen;
}

std::size_t PlaceOf(const std::vector<std::optional<Doing>>& chosen, const Doing& doing) {
  const auto found = std::ranges::find(chosen, std::optional(doing));
  return found == chosen.end() ? chosen.size() - 1
                               : static_cast<std::size_t>(found - chosen.begin());
}

}  // namespace

IdleMatrix MakeIdleMatrix(const IdleView& view, std::size_t most_lines, std::size_t most_columns) {
  std::vector<std::pair<Doing, Doing>> pairs;
  Sums to;
  Sums from;
  for (const IdlePair& pair : view.pairs) {
    const idle::PairPath parts = idle::SplitPair(*view.dictionary, pair.path);
    pairs.emplace_back(DoingOf(*view.dictionary, parts.to), DoingOf(*view.dictionary, parts.from));
    to[pairs.back().first] += pair.ns;  // at most the sum over all pairs
    from[pairs.back().second] += pair.ns;
  }
  IdleMatrix matrix{.to = Greatest(to, most_lines), .from = Greatest(from, most_columns), .ns = {}};
  matrix.ns.resize(matrix.to.size(), std::vector<std::uint64_t>(matrix.from.size()));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    matrix.ns[PlaceOf(matrix.to, pairs[i].first)][PlaceOf(matrix.from, pairs[i].second)] +=
        view.pairs[i].ns;
  }
  return matrix;
}

}  // namespace fieldcost::analysis
