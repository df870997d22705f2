#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/tree/rename.h"
#include "common/tree/run_values.h"
#include "common/tree/tree.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::tree {

// A mapping of paths to a coarser identity, under which several paths may become one.
struct PathMap {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<std::uint32_t> to;  // [old path id] = id in `dictionary`
};

// Folds direct recursion into one frame: main, f, f, f, g becomes main, f, g. Otherwise each depth
// of recursion would be a different path.
Result<PathMap> FoldRecursion(const Dictionary& dictionary);

// kInvalidArgument or kTooLarge if a new name is invalid.
Result<PathMap> Rename(const Dictionary& dictionary, RenameRules& rules);

// Sums the values of paths that become one. kTooLarge if a sum exceeds 64 bits.
Result<RunValues> Apply(const PathMap& map, const RunValues& run);
// kInvalidArgument if paths of a tree of several runs, or of a minimum, become one: the squares and
// minima of the sums are unknown, so single runs must be remapped before they are summed. REQUIRES:
// the map is for the tree's dictionary.
Result<Tree> Apply(const PathMap& map, const Tree& tree);

}  // namespace fieldcost::tree
