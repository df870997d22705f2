// Encodes a tree of runs. Numbers are LEB128 in their shortest form, of up to 128 bits;
// codec_parts.cc defines `names`.
//
//   tree      := 1:u8 1:u8 names runs least_of present* values*     ; format version, kind
// For each path, the root first:
//   present   := number of runs with its parent (for the root: of all runs) but without it
// For each metric, for each path, the root last, so that children are known before their parents:
//   values    := spread inclusive
//   spread    := max [if several runs, max > 0: max-min [if > 0: sum sum_squares]]
//   inclusive := excess [if several runs, its sum > 0, not only self:
//                        max max-min [if > 0: sum_squares]]
// excess = inclusive sum - self sum - inclusive sums of the children. "Only self": the path has no
// children, and the excess is 0.
#include "common/tree/codec.h"

#include <algorithm>
#include <utility>

#include "common/stats/varint.h"
#include "common/tree/codec_parts.h"
#include "common/tree/combine.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

using stats::AppendVarint;
using stats::Multiply;
using stats::Uint128;

// Whether `present` of `runs` runs can have these values while the others have 0.
bool IsPossible(const Spread& spread, std::uint64_t runs, std::uint64_t present) {
  const std::uint64_t least = present == runs ? spread.min : 0;
  if (spread.min != least || spread.min > spread.max) return false;
  if (present == 0) return spread == Spread{};
  // The maximum is one of them; so is the minimum if all runs are present.
  const Uint128 count = present;
  if (spread.sum < (count - 1) * least + spread.max) return false;
  if (spread.sum > (present == runs ? (count - 1) * spread.max + least : count * spread.max)) {
    return false;
  }
  if (((spread.sum ^ spread.sum_squares) & 1) != 0) return false;  // x and x^2 have the same parity
  // The Cauchy-Schwarz inequality; and (max - x)(x - least) >= 0.
  return Multiply(spread.sum, spread.sum) <= Multiply(count, spread.sum_squares) &&
         Add(Multiply(count * least, spread.max), spread.sum_squares) <=
             Multiply(Uint128{least} + spread.max, spread.sum);
}

Spread AllEqual(std::uint64_t value, std::uint64_t runs) {
  return {.sum = Uint128{value} * runs,
          .sum_squares = Uint128{value} * value * runs,
          .min = value,
          .max = value};
}

void AppendExtremes(const Spread& spread, std::string& bytes) {
  AppendVarint(spread.max, bytes);
  if (spread.max != 0) AppendVarint(spread.max - spread.min, bytes);
}

void AppendSpreads(const Tree& tree, std::size_t metric, const std::vector<PathId>& order,
                   const std::vector<bool>& has_children, std::string& bytes) {
  const std::vector<Uint128> excess = Excess(tree, metric);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const PathId path = *at;
    const Spread& self = tree.values[metric].self[path.value()];
    if (tree.runs == 1) {
      AppendVarint(self.max, bytes);
    } else {
      AppendExtremes(self, bytes);
      if (self.max != self.min) {
        AppendVarint(self.sum, bytes);
        AppendVarint(self.sum_squares, bytes);
      }
    }
    const Spread& inclusive = tree.values[metric].inclusive[path.value()];
    AppendVarint(excess[path.value()], bytes);
    const bool nothing_but_self = !has_children[path.value()] && excess[path.value()] == 0;
    if (tree.runs == 1 || inclusive.sum == 0 || nothing_but_self) continue;
    AppendExtremes(inclusive, bytes);
    if (inclusive.max != inclusive.min) AppendVarint(inclusive.sum_squares, bytes);
  }
}

Result<Spread> TakeSelf(Reader& reader, std::uint64_t runs) {
  FIELDCOST_ASSIGN(const std::uint64_t max, reader.Number());
  if (max == 0 || runs == 1) return AllEqual(max, runs);
  FIELDCOST_ASSIGN(const std::uint64_t range, reader.Number(max));
  if (range == 0 && Multiply(Uint128{max} * max, runs).high != 0) return Malformed("squares");
  if (range == 0) return AllEqual(max, runs);
  Spread spread = {.min = max - range, .max = max};
  FIELDCOST_ASSIGN(spread.sum, reader.Wide());
  FIELDCOST_ASSIGN(spread.sum_squares, reader.Wide());
  return spread;
}

Result<Spread> TakeInclusive(Reader& reader, std::uint64_t runs, Uint128 sum) {
  if (runs == 1 && stats::High64(sum) != 0) return Malformed("a run's sum");
  if (sum == 0 || runs == 1) return AllEqual(stats::Low64(sum), runs);
  FIELDCOST_ASSIGN(const std::uint64_t max, reader.Number());
  if (max == 0) return Malformed("a sum of nothing");
  FIELDCOST_ASSIGN(const std::uint64_t range, reader.Number(max));
  if (range == 0 && Multiply(Uint128{max} * max, runs).high != 0) return Malformed("squares");
  Spread spread = {.sum = sum, .min = max - range, .max = max};
  spread.sum_squares = Uint128{max} * max * runs;
  if (range != 0) {
    FIELDCOST_ASSIGN(spread.sum_squares, reader.Wide());
  }
  return spread;
}

// Decodes one metric of a tree whose other members are already set.
Result<MetricSpreads> TakeSpreads(Reader& reader, const Tree& tree,
                                  const std::vector<bool>& is_leaf) {
  const std::size_t paths = tree.paths().size();
  MetricSpreads spreads = {.self = std::vector<Spread>(paths),
                           .inclusive = std::vector<Spread>(paths)};
  std::vector<Uint128> below(paths);
  for (std::size_t path = paths; path-- > 0;) {
    FIELDCOST_ASSIGN(const Spread self, TakeSelf(reader, tree.runs));
    FIELDCOST_ASSIGN(const Uint128 excess, reader.Wide());
    Uint128 sum = self.sum;
    if (!AddTo(sum, below[path]) || !AddTo(sum, excess)) return Malformed("a sum");
    Spread inclusive = self;
    if (!is_leaf[path] || excess != 0) {
      FIELDCOST_ASSIGN(inclusive, TakeInclusive(reader, tree.runs, sum));
    }
    if (!IsPossible(self, tree.runs, tree.present[path]) ||
        !IsPossible(inclusive, tree.runs, tree.present[path]) || inclusive.min < self.min ||
        inclusive.max < self.max) {
      return Malformed("sums that are impossible for this number of runs");
    }
    // No path has more than its parent, whose sum is less than 2^128.
    Uint128& parent = below[tree.paths().parents()[path]];
    if (path != 0 && !AddTo(parent, sum)) return Malformed("a sum");
    spreads.self[path] = self;
    spreads.inclusive[path] = inclusive;
  }
  return spreads;
}

// Indexed by path id. Each path is in at most as many runs as its parent, and in at least one.
Result<std::vector<std::uint32_t>> TakePresent(Reader& reader, const PathTable& paths,
                                               std::uint64_t runs) {
  std::vector<std::uint32_t> present(paths.size());
  for (std::size_t path = 0; path < present.size(); ++path) {
    const std::uint64_t most = path == 0 ? runs : present[paths.parents()[path]];
    FIELDCOST_ASSIGN(const std::uint64_t missing, reader.Number(most));
    present[path] = static_cast<std::uint32_t>(most - missing);
    if (path != 0 && present[path] == 0) return Malformed("a path of no run");
  }
  return present;
}

}  // namespace

std::string EncodeTree(const Tree& tree) {
  const std::vector<PathId> order = OrderOf(*tree.dictionary, tree.present);
  std::string bytes;
  AppendHead(TreeKind::kRuns, tree.metrics, *tree.dictionary, order, bytes);
  AppendVarint(tree.runs, bytes);
  AppendVarint(tree.least_of, bytes);
  for (const PathId path : order) {
    const std::uint64_t most =
        path == kRootPath ? tree.runs : tree.present[tree.paths().parent(path).value()];
    AppendVarint(most - tree.present[path.value()], bytes);
  }
  const std::vector<bool> has_children = HasChildren(tree.paths(), order);
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    AppendSpreads(tree, metric, order, has_children, bytes);
  }
  return bytes;
}

Result<Tree> DecodeTree(std::string_view untrusted_bytes) {
  Reader reader(untrusted_bytes);
  FIELDCOST_ASSIGN(Head head, TakeHead(reader, TreeKind::kRuns));
  Tree tree = {.dictionary = std::move(head.dictionary), .metrics = std::move(head.metrics)};
  FIELDCOST_ASSIGN(tree.runs, reader.Number(kMaxRuns));
  FIELDCOST_ASSIGN(tree.least_of, reader.Number(kMaxRuns));
  if (tree.runs == 0) return Malformed("a tree of no runs");
  FIELDCOST_ASSIGN(tree.present, TakePresent(reader, tree.paths(), tree.runs));
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    FIELDCOST_ASSIGN(MetricSpreads spreads, TakeSpreads(reader, tree, head.is_leaf));
    tree.values.push_back(std::move(spreads));
  }
  if (reader.left() != 0) return Malformed("data follows it");
  return tree;
}

}  // namespace fieldcost::tree
