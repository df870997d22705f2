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

// Views of one metric of a tree. Pure functions; exact: all values are integers over the view's
// denominator.

// The cost before and after; a tree that is not a difference has no cost before.
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
  std::uint32_t depth = 0;   // 0 for the root
  tree::FrameId frame;       // none for the root
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
  // Depth first, starting with the root; siblings by descending value (the greater of before and
  // after), ties by frame.
  std::vector<ViewNode> nodes;

  bool IsDifference() const { return runs_before != 0; }
  const tree::Frame& frame(const ViewNode& node) const {
    return dictionary->frames.frame(node.frame);
  }
};

// REQUIRES, for all functions below: metric < tree.metrics.size().

// Callers above callees.
TreeView TopDown(const tree::MeanTree& tree, std::size_t metric);
// Below each function its callers, by self values. kTooLarge if there are too many paths.
Result<TreeView> BottomUp(const tree::MeanTree& tree, std::size_t metric);
// Below each function that matches the glob ("deflate", "libz.so!deflate*") its callers, by
// inclusive values; of recursive calls, only the outermost counts. kNotFound if none matches.
Result<TreeView> CallersOf(const tree::MeanTree& tree, std::size_t metric,
                           std::string_view function);
// Each function that matches the glob, and once below it each function that it calls, directly or
// indirectly. Inclusive values count outermost calls: of the function itself, and of the others
// within its calls. Self values of a function and of those below it add up to its inclusive value.
// The root's inclusive value is that of the outermost matching calls. kNotFound if none matches.
Result<TreeView> CalleesOf(const tree::MeanTree& tree, std::size_t metric,
                           std::string_view function);
// Each function once, below the root. Inclusive values count its outermost calls.
TreeView Flat(const tree::MeanTree& tree, std::size_t metric);
// The same for each frame below the root, such as threads: each function once below each of them.
TreeView FlatByFirst(const tree::MeanTree& tree, std::size_t metric);

// "libz.so!deflate", "deflate (adler.c)", "libz.so+0x12f0 [1234abcd]", "[kernel]"; not escaped.
std::string NameOf(const tree::Frame& frame);

}  // namespace fieldcost::analysis
