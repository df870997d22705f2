#include "common/tree/tree.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "common/base/check.h"
#include "common/tree/combine.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

// The number of runs processed in one sweep; their values of a path are adjacent.
constexpr std::size_t kLanes = 16;
using Mask = std::uint16_t;
static_assert(sizeof(Mask) * 8 == kLanes, "a bit for each");

// Sums of kLanes values below 2^kSmallBits fit into 64 bits, those of their squares into 128.
constexpr int kSmallBits = 60;
static_assert(kLanes <= std::size_t{1} << (64 - kSmallBits) &&
              kLanes <= std::size_t{1} << (128 - 2 * kSmallBits));

// Returns true on overflow.
bool Gather(const std::uint64_t* values, std::size_t lanes, Spread& spread) {
  std::uint64_t sum = 0;
  std::uint64_t any = 0;
  std::uint64_t min = values[0];
  std::uint64_t max = values[0];
  stats::Uint128 squares = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t value = values[lane];
    sum += value;
    any |= value;
    squares += stats::Uint128{value} * value;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  spread = {.sum = sum, .sum_squares = squares, .min = min, .max = max};
  if (any >> kSmallBits == 0) return false;
  bool passed = false;
  spread.sum = 0;
  spread.sum_squares = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    spread.sum += values[lane];
    passed |= !AddTo(spread.sum_squares, stats::Uint128{values[lane]} * values[lane]);
  }
  return passed;
}

// Allocates room for that many. Most of the cost of a large allocation is its first touch, which
// huge pages, if available, make rare.
void MakeRoom(std::vector<Spread>& spreads, std::size_t paths) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  spreads.reserve(paths);
  const auto begin = reinterpret_cast<std::uintptr_t>(spreads.data());
  const std::uintptr_t first = (begin + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t last = (begin + paths * sizeof(Spread)) & ~(kHugePage - 1);
  if (spreads.empty() && first < last) {
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // best effort
  }
  spreads.resize(paths);
}

// Adds up to kLanes runs to a tree.
class Sweep {
 public:
  Sweep(const PathTable& paths, std::span<const RunValues> runs, bool is_first)
      : parents_(paths.parents()),
        runs_(runs),
        is_first_(is_first),
        masks_(paths.size()),
        below_(paths.size() * runs.size()) {}

  // Returns false on overflow.
  bool Add(std::size_t column, MetricSpreads& spreads);
  void AddPresent(std::vector<std::uint32_t>& present) const {
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      present[i] += static_cast<std::uint32_t>(std::popcount(masks_[i]));
    }
  }

 private:
  bool Enter(const std::uint64_t* values, Spread& spread) const {
    if (is_first_) return Gather(values, runs_.size(), spread);
    Spread more;
    const bool passed = Gather(values, runs_.size(), more);
    return !Combine(more, spread) || passed;
  }

  std::span<const std::uint32_t> parents_;
  std::span<const RunValues> runs_;
  bool is_first_;
  std::vector<Mask> masks_;           // [path]: the runs that contain it
  std::vector<std::uint64_t> below_;  // [path][run]: sum of its children; 0 between metrics
};

bool Sweep::Add(std::size_t column, MetricSpreads& spreads) {
  const std::size_t lanes = runs_.size();
  std::array<std::span<const std::uint64_t>, kLanes> columns;
  std::size_t shortest = parents_.size();
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    columns[lane] = runs_[lane].column(column);
    FIELDCOST_CHECK(columns[lane].size() <= parents_.size());
    shortest = std::min(shortest, columns[lane].size());
  }
  std::array<std::uint64_t, kLanes> self{};
  std::array<std::uint64_t, kLanes> inclusive{};
  std::array<std::uint64_t, kLanes> above_root{};
  bool passed = false;
  for (std::size_t path = parents_.size(); path-- > 0;) {
    std::uint64_t* const below = &below_[path * lanes];
    std::uint64_t* const parent =
        path == 0 ? above_root.data() : &below_[std::size_t{parents_[path]} * lanes];
    std::uint64_t any_self = 0;
    std::uint64_t any_below = 0;
    Mask mask = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      self[lane] = path < shortest || path < columns[lane].size() ? columns[lane][path] : 0;
      any_self |= self[lane];
      any_below |= below[lane];
      passed |= __builtin_add_overflow(below[lane], self[lane], &inclusive[lane]);
      passed |= __builtin_add_overflow(parent[lane], inclusive[lane], &parent[lane]);
      below[lane] = 0;  // for the next metric
      mask = static_cast<Mask>(mask | ((inclusive[lane] != 0 ? 1U : 0U) << lane));
    }
    masks_[path] |= mask;
    if (!is_first_ || any_self != 0) passed |= Enter(self.data(), spreads.self[path]);
    if (is_first_ && any_below == 0) {
      spreads.inclusive[path] = spreads.self[path];
    } else if (!is_first_ || mask != 0) {
      passed |= Enter(inclusive.data(), spreads.inclusive[path]);
    }
  }
  return !passed;
}

// Their order by name. kInvalidArgument unless all are valid and different.
Result<std::vector<std::size_t>> MetricOrder(const std::vector<Metric>& metrics) {
  if (metrics.size() > kMaxMetrics) {
    return Fail(ErrorCode::kTooLarge, "{} metrics are more than {}", metrics.size(), kMaxMetrics);
  }
  std::vector<std::size_t> order(metrics.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return metrics[a].name < metrics[b].name; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    FIELDCOST_TRY(Validate(metrics[order[i]]));
    if (i != 0 && metrics[order[i]].name == metrics[order[i - 1]].name) {
      return Fail(ErrorCode::kInvalidArgument, "metric {} appears twice", metrics[order[i]].name);
    }
  }
  return order;
}

}  // namespace

std::optional<std::size_t> FindMetric(std::span<const Metric> metrics, std::string_view name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics.begin());
}

Result<Tree> TreeOf(std::shared_ptr<const Dictionary> dictionary, std::vector<Metric> metrics,
                    std::span<const RunValues> runs) {
  FIELDCOST_CHECK(!runs.empty() && runs.size() <= kMaxRuns);
  for (const RunValues& run : runs) FIELDCOST_CHECK(run.metrics() == metrics.size());
  FIELDCOST_ASSIGN(const std::vector<std::size_t> order, MetricOrder(metrics));
  Tree tree = {.dictionary = std::move(dictionary), .runs = runs.size()};
  const std::size_t paths = tree.paths().size();
  tree.present.resize(paths);
  tree.values.resize(metrics.size());
  for (const std::size_t column : order) tree.metrics.push_back(metrics[column]);
  for (std::size_t done = 0; done < runs.size(); done += kLanes) {
    Sweep sweep(tree.paths(), runs.subspan(done, std::min(kLanes, runs.size() - done)), done == 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Allocated here, so they are still in the caches when they are filled.
      MakeRoom(tree.values[i].self, paths);
      MakeRoom(tree.values[i].inclusive, paths);
      if (sweep.Add(order[i], tree.values[i])) continue;
      return Fail(ErrorCode::kTooLarge, "metric {} exceeds 64 bits in a run, or 128 in all",
                  tree.metrics[i].name);
    }
    sweep.AddPresent(tree.present);
  }
  return tree;
}

std::vector<stats::Uint128> Excess(const Tree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.values.size());
  const MetricSpreads& spreads = tree.values[metric];
  std::vector<stats::Uint128> excess(spreads.self.size());
  for (std::size_t path = excess.size(); path-- > 0;) {
    excess[path] += spreads.inclusive[path].sum - spreads.self[path].sum;
    if (path != 0) excess[tree.paths().parents()[path]] -= spreads.inclusive[path].sum;
  }
  return excess;
}

stats::Uint128 UnnamedSum(const Tree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.values.size());
  const std::vector<Spread>& self = tree.values[metric].self;
  stats::Uint128 sum = 0;
  for (std::uint32_t path = 1; path < self.size(); ++path) {
    if (tree.dictionary->frame(PathId(path)).kind == FrameKind::kUnnamed) sum += self[path].sum;
  }
  return sum;
}

}  // namespace fieldcost::tree
