// Encodes a tree of means; compare the encoding of a tree of runs in codec.cc.
//
//   means     := 1:u8 2:u8 names denominator runs_before runs_after where* sides*
// For each path, the root first:
//   where     := 1 before, 2 after, 3 both             ; for the root also 0
// For each metric, for each path, the root last:
//   sides     := side(before) side(after) inclusive_side(before) inclusive_side(after)
//   side      := sum [if > 0: sum_squares]
//   inclusive_side := excess [if its sum > 0, not only self: sum_squares]
// "excess" and "only self" are defined in codec.cc.
#include <array>
#include <utility>

#include "common/stats/varint.h"
#include "common/tree/codec.h"
#include "common/tree/codec_parts.h"
#include "common/tree/combine.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

using stats::AppendVarint;
using stats::Multiply;
using stats::Uint128;

using SidePart = SideSum Sides::*;
constexpr std::array<SidePart, 2> kSides = {&Sides::before, &Sides::after};

// Whether runs that contribute integers can have these sums: x <= x^2, both have the same parity,
// and the Cauchy-Schwarz inequality.
bool IsPossible(const SideSum& side, std::uint64_t runs) {
  return side.sum < SideSum::kSumEnd && side.sum <= side.sum_squares &&
         ((side.sum ^ side.sum_squares) & 1) == 0 &&
         stats::WideProduct{.high = 0, .low = side.sum_squares} <= Multiply(side.sum, side.sum) &&
         Multiply(side.sum, side.sum) <= Multiply(runs, side.sum_squares);
}

// Indexed by path id. Intermediate values are modulo 2^128; the result is exact.
std::vector<Uint128> SideExcess(const MeanTree& tree, std::size_t metric, SidePart side) {
  const MetricSides& values = tree.values[metric];
  std::vector<Uint128> excess(values.self.size());
  for (std::size_t path = excess.size(); path-- > 0;) {
    const Uint128 inclusive = (values.inclusive[path].*side).sum;
    excess[path] += inclusive - (values.self[path].*side).sum;
    if (path != 0) excess[tree.paths().parents()[path]] -= inclusive;
  }
  return excess;
}

void AppendSides(const MeanTree& tree, std::size_t metric, const std::vector<PathId>& order,
                 std::string& bytes) {
  const std::vector<bool> has_children = HasChildren(tree.paths(), order);
  const std::array<std::vector<Uint128>, 2> excess = {SideExcess(tree, metric, kSides[0]),
                                                      SideExcess(tree, metric, kSides[1])};
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const std::size_t path = at->value();
    for (const SidePart side : kSides) {
      const SideSum& self = tree.values[metric].self[path].*side;
      AppendVarint(self.sum, bytes);
      if (self.sum != 0) AppendVarint(self.sum_squares, bytes);
    }
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      const SideSum& inclusive = tree.values[metric].inclusive[path].*kSides[i];
      AppendVarint(excess[i][path], bytes);
      const bool nothing_but_self = !has_children[path] && excess[i][path] == 0;
      if (inclusive.sum != 0 && !nothing_but_self) AppendVarint(inclusive.sum_squares, bytes);
    }
  }
}

// Decodes one metric of a tree whose other members are already set.
Result<MetricSides> TakeSides(Reader& reader, const MeanTree& tree,
                              const std::vector<bool>& is_leaf) {
  const std::size_t paths = tree.paths().size();
  MetricSides values = {.self = std::vector<Sides>(paths), .inclusive = std::vector<Sides>(paths)};
  std::array<std::vector<Uint128>, 2> below = {std::vector<Uint128>(paths),
                                               std::vector<Uint128>(paths)};
  const std::array<std::uint64_t, 2> runs = {tree.runs_before, tree.runs_after};
  for (std::size_t path = paths; path-- > 0;) {
    for (const SidePart part : kSides) {
      SideSum& self = values.self[path].*part;
      FIELDCOST_ASSIGN(self.sum, reader.Wide());
      if (self.sum == 0) continue;
      FIELDCOST_ASSIGN(self.sum_squares, reader.Wide());
    }
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      const SideSum& self = values.self[path].*kSides[i];
      SideSum& inclusive = values.inclusive[path].*kSides[i];
      FIELDCOST_ASSIGN(const Uint128 excess, reader.Wide());
      inclusive = self;
      if (!AddTo(inclusive.sum, below[i][path]) || !AddTo(inclusive.sum, excess)) {
        return Malformed("a sum");
      }
      if (inclusive.sum != 0 && (!is_leaf[path] || excess != 0)) {
        FIELDCOST_ASSIGN(inclusive.sum_squares, reader.Wide());
      }
      const bool is_there = (tree.where[path] >> i & 1U) != 0;
      if (!IsPossible(self, runs[i]) || !IsPossible(inclusive, runs[i]) ||
          inclusive.sum_squares < self.sum_squares || (!is_there && inclusive.sum != 0)) {
        return Malformed("sums that are impossible for this number of runs");
      }
      // Each is less than 2^127, so an overflow of 128 bits is detected.
      if (path != 0 && !AddTo(below[i][tree.paths().parents()[path]], inclusive.sum)) {
        return Malformed("a sum");
      }
    }
  }
  return values;
}

}  // namespace

std::string EncodeMeanTree(const MeanTree& tree) {
  const std::vector<PathId> order = OrderOf(*tree.dictionary, tree.where);
  std::string bytes;
  AppendHead(TreeKind::kMeans, tree.metrics, *tree.dictionary, order, bytes);
  AppendVarint(tree.denominator, bytes);
  AppendVarint(tree.runs_before, bytes);
  AppendVarint(tree.runs_after, bytes);
  for (const PathId path : order) AppendVarint(tree.where[path.value()], bytes);
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    AppendSides(tree, metric, order, bytes);
  }
  return bytes;
}

Result<MeanTree> DecodeMeanTree(std::string_view untrusted_bytes) {
  Reader reader(untrusted_bytes);
  FIELDCOST_ASSIGN(Head head, TakeHead(reader, TreeKind::kMeans));
  MeanTree tree = {.dictionary = std::move(head.dictionary), .metrics = std::move(head.metrics)};
  FIELDCOST_ASSIGN(tree.denominator, reader.Number());
  FIELDCOST_ASSIGN(tree.runs_before, reader.Number(kMaxRuns));
  FIELDCOST_ASSIGN(tree.runs_after, reader.Number(kMaxRuns));
  if (tree.denominator == 0) return Malformed("a denominator of 0");
  const std::uint64_t sides =
      (tree.runs_before == 0 ? 0U : kInBefore) | (tree.runs_after == 0 ? 0U : kInAfter);
  tree.where.resize(tree.paths().size());
  for (std::size_t path = 0; path < tree.where.size(); ++path) {
    FIELDCOST_ASSIGN(const std::uint64_t where, reader.Number(kInBefore | kInAfter));
    const std::uint64_t most = path == 0 ? sides : tree.where[tree.paths().parents()[path]];
    if ((where & ~most) != 0 || (path != 0 && where == 0)) return Malformed("sides of a path");
    tree.where[path] = static_cast<std::uint8_t>(where);
  }
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    FIELDCOST_ASSIGN(MetricSides values, TakeSides(reader, tree, head.is_leaf));
    tree.values.push_back(std::move(values));
  }
  if (reader.left() != 0) return Malformed("data follows it");
  return tree;
}

}  // namespace fieldcost::tree
