#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Trees as bytes (FORMAT.md has the format). Canonical: trees that say the same have the same
// bytes, however their frames and paths are numbered; paths that are in no run are left out. Pure
// functions, thread-safe.

std::string EncodeTree(const Tree& tree);
std::string EncodeMeanTree(const MeanTree& tree);

// kCorrupt unless the bytes are just those that encoding what comes out would give, and every sum
// is possible for so many runs; kTooLarge beyond the limits; kUnsupported if they are of a later
// version. Memory is taken in proportion to the bytes, but for names, of which
// there are at most kMaxAllNameBytes, twice.
Result<Tree> DecodeTree(std::string_view untrusted_bytes);
Result<MeanTree> DecodeMeanTree(std::string_view untrusted_bytes);

}  // namespace fieldcost::tree
