#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/tree/tree.h"

namespace fieldcost::tree {

// The simplest representation of runs, for slow reference implementations: self values by the names
// on a path.
using Names = std::vector<std::string>;
struct PlainRun {
  std::map<Names, std::vector<std::uint64_t>> self;  // [metric]
  std::uint64_t Self(const Names& path, std::size_t metric) const;
  // Computed by visiting every path.
  std::uint64_t Inclusive(const Names& path, std::size_t metric) const;
  bool IsIn(const Names& path) const;
};

// A run with few distinct frames, so that runs share paths; at most 6 deep.
PlainRun RandomRun(std::mt19937_64& random, std::size_t metrics, std::size_t paths = 12);

// Metrics "m0", "m1" ... in ns.
std::vector<Metric> SomeMetrics(std::size_t count);

// A tree of these runs with its own dictionary, whose ids are in random order and which also
// contains paths that are in no run.
Tree TreeOfPlain(std::span<const PlainRun> runs, std::vector<Metric> metrics,
                 std::mt19937_64& random);

// Finds or interns a path; {} is the root.
PathId Enter(Dictionary& dictionary, const Names& path);
std::optional<PathId> Find(const Dictionary& dictionary, const Names& path);
Names NamesOf(const Dictionary& dictionary, PathId path);

// All paths of all runs, their prefixes and the root.
std::vector<Names> AllPaths(std::span<const PlainRun> runs);

}  // namespace fieldcost::tree
