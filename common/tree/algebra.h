#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Operations on trees; pure functions, exact integers. A metric that one operand lacks is missing
// in the result, with a remark. Operands that share a dictionary are fast; others are matched by
// their frames.

template <typename T>
struct WithRemarks {
  T tree;
  std::vector<std::string> remarks;  // one line each, for the user
};

// All runs of all trees: runs, presence and sums are added, minima and maxima combined. The result,
// as written by EncodeTree(), does not depend on order or grouping. kInvalidArgument as for
// MatchMetrics(); kTooLarge if a sum exceeds 128 bits or a limit. REQUIRES: at least one tree.
Result<WithRemarks<Tree>> Add(std::span<const Tree> trees);

// The paths that are in every run of every tree, with the smallest self and the smallest inclusive
// value of any run: removes asynchronous noise. Its Excess() is the part that varies. It represents
// one run, and can be added and compared like one. Errors as for Add(). For samples it is biased
// low, and gets a remark. REQUIRES: at least one tree.
Result<WithRemarks<Tree>> Minimum(std::span<const Tree> trees);

}  // namespace fieldcost::tree
