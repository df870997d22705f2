#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Encodes and decodes trees (FORMAT.md defines the format). Canonical: trees with equal content
// have equal bytes, however their frames and paths are numbered. Paths that are in no run are
// omitted. Pure functions, thread-safe.

std::string EncodeTree(const Tree& tree);
std::string EncodeMeanTree(const MeanTree& tree);

// kCorrupt unless encoding the result would give the same bytes and every sum is possible for its
// number of runs; kTooLarge beyond the limits; kUnsupported for a later version. Memory is
// proportional to the bytes, except for names, which take at most twice kMaxAllNameBytes.
Result<Tree> DecodeTree(std::string_view untrusted_bytes);
Result<MeanTree> DecodeMeanTree(std::string_view untrusted_bytes);

}  // namespace fieldcost::tree
