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

// Runs as the plainest thing that they can be, for slow twins: self values by the names on a path.
using Names = std::vector<std::string>;
struct PlainRun {
  std::map<Names, std::vector<std::uint64_t>> self;  // [metric]
  std::uint64_t Self(const Names& path, std::size_t metric) const;
  // By looking at every path.
  std::uint64_t Inclusive(const Names& path, std::size_t metric) const;
  bool IsIn(const Names& path) const;
};

// A run of few frames, so that paths of different runs meet; at most 6 deep.
PlainRun RandomRun(std::mt19937_64& random, std::size_t metrics, std::size_t paths = 12);

// "m0", "m1" ... in ns.
std::vector<Metric> SomeMetrics(std::size_t count);

// A tree of them with a dictionary of its own, whose ids are in random order and that knows paths
// of no run, too.
Tree TreeOfPlain(std::span<const PlainRun> runs, std::vector<Metric> metrics,
                 std::mt19937_64& random);

// Interns a path, or finds it; {} is the root.
PathId Enter(Dictionary& dictionary, const Names& path);
std::optional<PathId> Find(const Dictionary& dictionary, const Names& path);
Names NamesOf(const Dictionary& dictionary, PathId path);

// All paths of all runs, with what they go on from, and the root.
std::vector<Names> AllPaths(std::span<const PlainRun> runs);

}  // namespace fieldcost::tree
