#include "common/tree/remap.h"

#include <functional>
#include <utility>

#include "common/base/check.h"

namespace fieldcost::tree {
namespace {

// Renames frames with `frame_to`. With `folds`, repeated frames at the end of a path become one.
Result<PathMap> Map(const Dictionary& from, const std::function<Frame(const Frame&)>& frame_to,
                    bool folds) {
  auto to = std::make_shared<Dictionary>();
  std::vector<FrameId> frames;
  for (std::uint32_t i = 0; i < from.frames.size(); ++i) {
    FIELDCOST_ASSIGN(const FrameId id, to->frames.Intern(frame_to(from.frames.frame(FrameId(i)))));
    frames.push_back(id);
  }
  PathMap map = {.to = std::vector<std::uint32_t>(from.paths.size())};
  for (std::size_t i = 1; i < map.to.size(); ++i) {
    const PathId parent(map.to[from.paths.parents()[i]]);
    const FrameId frame = frames[from.paths.frames()[i]];
    if (folds && parent != kRootPath && to->paths.frame(parent) == frame) {
      map.to[i] = parent.value();
      continue;
    }
    FIELDCOST_ASSIGN(const PathId path, to->paths.Intern(parent, frame));
    map.to[i] = path.value();
  }
  map.dictionary = std::move(to);
  return map;
}

// The values of a tree's only run. REQUIRES: it has one run, and is not a minimum.
RunValues RunOf(const Tree& tree) {
  FIELDCOST_CHECK(tree.runs == 1 && tree.least_of == 0);
  RunValues run(tree.metrics.size());
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    const std::vector<Spread>& self = tree.values[metric].self;
    const std::span<std::uint64_t> column = run.MutableColumn(metric, self.size());
    for (std::size_t path = 0; path < self.size(); ++path) column[path] = self[path].max;
  }
  return run;
}

bool BecomesOne(const PathMap& map, const Tree& tree) {
  std::vector<bool> taken(map.dictionary->paths.size());
  for (std::size_t path = 0; path < map.to.size(); ++path) {
    if (tree.present[path] == 0) continue;
    if (taken[map.to[path]]) return true;
    taken[map.to[path]] = true;
  }
  return false;
}

}  // namespace

Result<PathMap> FoldRecursion(const Dictionary& dictionary) {
  return Map(
      dictionary, [](const Frame& frame) { return frame; }, true);
}

Result<PathMap> Rename(const Dictionary& dictionary, RenameRules& rules) {
  return Map(
      dictionary, [&](const Frame& frame) { return rules.Apply(frame); }, false);
}

Result<RunValues> Apply(const PathMap& map, const RunValues& run) {
  RunValues result(run.metrics(), map.dictionary->paths.size());
  for (std::size_t metric = 0; metric < run.metrics(); ++metric) {
    const std::span<const std::uint64_t> column = run.column(metric);
    FIELDCOST_CHECK(column.size() <= map.to.size());
    for (std::size_t path = 0; path < column.size(); ++path) {
      FIELDCOST_TRY(result.Add(metric, PathId(map.to[path]), column[path]));
    }
  }
  return result;
}

Result<Tree> Apply(const PathMap& map, const Tree& tree) {
  FIELDCOST_CHECK(map.to.size() == tree.paths().size());
  if (BecomesOne(map, tree)) {
    if (tree.runs != 1 || tree.least_of != 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "call paths would merge, but the tree has {} runs: apply it to each of them",
                  tree.least_of == 0 ? tree.runs : tree.least_of);
    }
    FIELDCOST_ASSIGN(const RunValues run, Apply(map, RunOf(tree)));
    return TreeOf(map.dictionary, tree.metrics, std::span(&run, 1));
  }
  Tree result = {.dictionary = map.dictionary,
                 .metrics = tree.metrics,
                 .runs = tree.runs,
                 .least_of = tree.least_of};
  const std::size_t paths = map.dictionary->paths.size();
  result.present.resize(paths);
  result.values.resize(tree.metrics.size(), {.self = std::vector<Spread>(paths),
                                             .inclusive = std::vector<Spread>(paths)});
  for (std::size_t path = 0; path < map.to.size(); ++path) {
    if (tree.present[path] == 0) continue;
    result.present[map.to[path]] = tree.present[path];
    for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
      result.values[metric].self[map.to[path]] = tree.values[metric].self[path];
      result.values[metric].inclusive[map.to[path]] = tree.values[metric].inclusive[path];
    }
  }
  return result;
}

}  // namespace fieldcost::tree
