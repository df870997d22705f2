#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "aggregator/publish/tree_source.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::publish {

struct TreeCheckOptions {
  // A root that must be among the tree's: its signed bytes, or their SHA-256 in hex. If both are
  // empty, the check starts from the tree's own first root, so it cannot notice another service.
  std::string pinned_root;
  std::string pinned_sha256;
  // Called after every fragment: done, total. May be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct TreeProblem {
  std::string file;  // a path, or a URL
  std::string why;
};

struct TreeReport {
  std::uint64_t version = 0;         // of the snapshot; 0 = none is valid
  std::uint64_t root_version = 0;    // likewise
  std::uint64_t policy_version = 0;  // 0 = no policy
  std::uint64_t files = 0;           // read
  std::uint64_t bytes = 0;
  std::uint64_t fragments = 0;
  std::uint64_t rows = 0;
  std::uint64_t unlisted = 0;  // files of older publications, or of an unfinished one
  std::vector<TreeProblem> problems;
};

// Reads a published tree as clients and agents do, and more strictly: roots, timestamp, snapshot,
// policy, and all fragments with all their rows; on disk, also that every other file's name is the
// hash of its content. Each problem is reported. Errors: the tree cannot be read at all
// (tree_source.h).
Result<TreeReport> CheckTree(TreeSource& source, const TreeCheckOptions& options, WallTime now);

}  // namespace fieldcost::publish
