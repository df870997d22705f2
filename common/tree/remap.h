#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/tree/dictionary.h"
#include "common/tree/rename.h"
#include "common/tree/run_values.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Another way to tell paths apart, under which several may become one.
struct PathMap {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<std::uint32_t> to;  // [old path id] = id in `dictionary`
};

// Direct recursion becomes one frame: main, f, f, f, g is main, f, g. How deep it went is otherwise
// a different path in each run.
Result<PathMap> FoldRecursion(const Dictionary& dictionary);

// kInvalidArgument or kTooLarge if a new name is not valid.
Result<PathMap> Rename(const Dictionary& dictionary, RenameRules& rules);

// Values of paths that become one add up. kTooLarge if that passes 64 bits.
Result<RunValues> Apply(const PathMap& map, const RunValues& run);
// kInvalidArgument if paths of a tree of several runs, or of a minimum, become one: their squares
// and minima are not known, so that has to be done before. REQUIRES: the map is of its dictionary.
Result<Tree> Apply(const PathMap& map, const Tree& tree);

}  // namespace fieldcost::tree
