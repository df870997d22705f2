#include "common/tree/tree_dictionary.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"

namespace fieldcost::tree {
namespace {

// Returns the mapping [path id in `from`] = path id in `to`.
Result<std::vector<std::uint32_t>> Enter(const Dictionary& from, Dictionary& to) {
  std::vector<std::uint32_t> frames(from.frames.size());
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    FIELDCOST_ASSIGN(const FrameId id, to.frames.Intern(from.frames.frame(FrameId(i))));
    frames[i] = id.value();
  }
  std::vector<std::uint32_t> paths(from.paths.size());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    FIELDCOST_CHECK(from.paths.frames()[i] < frames.size());
    FIELDCOST_ASSIGN(const PathId id, to.paths.Intern(PathId(paths[from.paths.parents()[i]]),
                                                      FrameId(frames[from.paths.frames()[i]])));
    paths[i] = id.value();
  }
  return paths;
}

}  // namespace

Result<Union> Unite(std::span<const std::shared_ptr<const Dictionary>> dictionaries) {
  FIELDCOST_CHECK(!dictionaries.empty());
  Union united;
  united.to.resize(dictionaries.size());
  united.dictionary = dictionaries.front();
  if (std::all_of(dictionaries.begin(), dictionaries.end(),
                  [&](const auto& each) { return each == dictionaries.front(); })) {
    return united;
  }
  auto all = std::make_shared<Dictionary>();
  all->paths.Reserve(dictionaries.front()->paths.size());
  for (std::size_t i = 0; i < dictionaries.size(); ++i) {
    const auto same =
        std::find(dictionaries.begin(), dictionaries.begin() + std::ptrdiff_t(i), dictionaries[i]);
    if (const auto at = static_cast<std::size_t>(same - dictionaries.begin()); at != i) {
      united.to[i] = united.to[at];
      continue;
    }
    FIELDCOST_ASSIGN(united.to[i], Enter(*dictionaries[i], *all));
  }
  united.dictionary = std::move(all);
  return united;
}

std::vector<PathId> CanonicalOrder(const Dictionary& dictionary, const std::vector<bool>& kept) {
  const PathTable& paths = dictionary.paths;
  FIELDCOST_CHECK(kept.size() == paths.size());
  // Ranks of the frames, so that siblings are compared by number.
  std::vector<std::uint32_t> by_rank(dictionary.frames.size());
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  std::sort(by_rank.begin(), by_rank.end(), [&](std::uint32_t a, std::uint32_t b) {
    return dictionary.frames.frame(FrameId(a)) < dictionary.frames.frame(FrameId(b));
  });
  std::vector<std::uint32_t> rank(by_rank.size());
  for (std::uint32_t i = 0; i < by_rank.size(); ++i) rank[by_rank[i]] = i;
  // The children of each path, adjacent and in descending order, since the stack reverses them.
  std::vector<std::uint32_t> begin(paths.size() + 1);
  for (std::size_t i = 1; i < paths.size(); ++i) {
    if (!kept[i]) continue;
    FIELDCOST_CHECK(paths.parents()[i] == 0 || kept[paths.parents()[i]]);
    ++begin[paths.parents()[i] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> children(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    if (kept[i]) children[next[paths.parents()[i]]++] = i;
  }
  std::vector<PathId> order;
  order.reserve(children.size() + 1);
  std::vector<std::uint32_t> open = {0};
  while (!open.empty()) {
    const std::uint32_t path = open.back();
    open.pop_back();
    order.emplace_back(path);
    const auto first = children.begin() + begin[path];
    const auto last = children.begin() + begin[path + 1];
    std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
      return rank[paths.frames()[a]] > rank[paths.frames()[b]];
    });
    open.insert(open.end(), first, last);
  }
  return order;
}

}  // namespace fieldcost::tree
