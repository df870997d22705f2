#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Trees in, a tree out; pure functions, exact integers. A metric that one of them lacks is missing
// in the result, and a remark says so. Operands of one dictionary are fast; others are matched by
// their frames.

template <typename T>
struct WithRemarks {
  T tree;
  std::vector<std::string> remarks;  // for people; each a line
};

// All runs of all trees together: runs, presence and sums add, minima and maxima combine. The same
// in whatever order and grouping (as EncodeTree() writes it). kInvalidArgument as MatchMetrics();
// kTooLarge if a sum passes 128 bits, or a limit. REQUIRES: at least one tree.
Result<WithRemarks<Tree>> Add(std::span<const Tree> trees);

// The paths that are in every run of every tree, with the least self and the least inclusive value
// of any run: what is left without asynchronous noise. Its Excess() is what varies. It stands for
// one run and can be added and compared like one. Errors as of Add(). Of samples it is biased low;
// a remark says so. REQUIRES: at least one tree.
Result<WithRemarks<Tree>> Minimum(std::span<const Tree> trees);

}  // namespace fieldcost::tree
