#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/uint128.h"
#include "common/tree/mean_tree.h"

namespace fieldcost::analysis {

// One metric of a tree, in the forms in which people look at it. Pure functions; exact: all values
// are integers over the view's denominator.

// What something costs before and after; of a tree that is no difference nothing before.
struct ViewValue {
  stats::Uint128 before = 0;
  stats::Uint128 after = 0;
  // REQUIRES: sums of a MeanTree, which are below 2^127.
  stats::Int128 Change() const {
    return static_cast<stats::Int128>(after) - static_cast<stats::Int128>(before);
  }
  stats::Uint128 Greater() const { return before > after ? before : after; }
  bool operator==(const ViewValue&) const = default;
};

struct ViewNode {
  std::uint32_t parent = 0;  // index, less than its own
  std::uint32_t depth = 0;   // the first has 0
  tree::FrameId frame;       // of the first: none
  std::uint8_t where = 0;    // tree::kInBefore, kInAfter
  ViewValue self;
  ViewValue inclusive;
};

struct TreeView {
  std::shared_ptr<const tree::Dictionary> dictionary;
  tree::Metric metric;
  std::uint64_t denominator = 1;
  std::uint64_t runs_before = 0;  // 0: no difference
  std::uint64_t runs_after = 0;
  // Depth first, the first is the root; siblings with the greatest value, before or after, first,
  // equal ones by frame.
  std::vector<ViewNode> nodes;

  bool IsDifference() const { return runs_before != 0; }
  const tree::Frame& frame(const ViewNode& node) const {
    return dictionary->frames.frame(node.frame);
  }
};

// For all, REQUIRES: metric < tree.metrics.size().

// Callers above what they call.
TreeView TopDown(const tree::MeanTree& tree, std::size_t metric);
// Below each function what called it: by self values. kTooLarge if these are too many paths.
Result<TreeView> BottomUp(const tree::MeanTree& tree, std::size_t metric);
// Below each function that the glob means ("deflate", "libz.so!deflate*") what called it, by
// inclusive values; of calls within its own recursion the outermost. kNotFound if none is meant.
Result<TreeView> CallersOf(const tree::MeanTree& tree, std::size_t metric,
                           std::string_view function);
// Each function once, below the root. Inclusive: of its outermost calls.
TreeView Flat(const tree::MeanTree& tree, std::size_t metric);
// The same of each frame below the root, such as threads: the functions once below each of them.
TreeView FlatByFirst(const tree::MeanTree& tree, std::size_t metric);

// "libz.so!deflate", "deflate (adler.c)", "libz.so+0x12f0 [1234abcd]", "[kernel]"; not escaped.
std::string NameOf(const tree::Frame& frame);

}  // namespace fieldcost::analysis
