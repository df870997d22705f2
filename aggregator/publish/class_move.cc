#include "aggregator/publish/class_move.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace fieldcost::publish {
namespace {

using Node = std::size_t;
constexpr Node kGround = 0;

// An undirected graph with capacities.
class Graph {
 public:
  explicit Graph(std::size_t nodes) : edges_of_(nodes) {}

  Node AddNode() {
    edges_of_.emplace_back();
    return edges_of_.size() - 1;
  }
  // An edge without capacity still connects.
  void Connect(Node a, Node b, std::uint64_t capacity) {
    edges_of_[a].push_back(directed_.size());
    directed_.push_back({.to = b, .left = capacity});
    edges_of_[b].push_back(directed_.size());
    directed_.push_back({.to = a, .left = capacity});
  }

  bool AreConnected(Node from, Node to) const {
    return FindPath(from, to, /*needs_capacity=*/false).has_value();
  }
  // Whether the maximum flow is at least `wanted`. Uses up the capacities.
  bool Reaches(Node from, Node to, std::uint64_t wanted) {
    std::uint64_t flow = 0;
    while (flow < wanted) {
      const auto path = FindPath(from, to, /*needs_capacity=*/true);
      if (!path) return false;
      std::uint64_t least = wanted - flow;
      for (const std::size_t edge : *path) least = std::min(least, directed_[edge].left);
      for (const std::size_t edge : *path) {
        directed_[edge].left -= least;
        directed_[edge ^ 1U].left += least;
      }
      flow += least;
    }
    return true;
  }

 private:
  struct Directed {
    Node to = 0;
    std::uint64_t left = 0;  // capacity that is left
  };

  // Returns the edges of a shortest path, last one first.
  std::optional<std::vector<std::size_t>> FindPath(Node from, Node to, bool needs_capacity) const {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> reached_by(edges_of_.size(), kNone);
    std::vector<Node> queue = {from};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const std::size_t edge : edges_of_[queue[next]]) {
        const Directed& directed = directed_[edge];
        if (directed.to == from || reached_by[directed.to] != kNone) continue;
        if (needs_capacity && directed.left == 0) continue;
        reached_by[directed.to] = edge;
        queue.push_back(directed.to);
      }
    }
    if (reached_by[to] == kNone) return std::nullopt;
    std::vector<std::size_t> path;
    for (Node node = to; node != from; node = directed_[path.back() ^ 1U].to) {
      path.push_back(reached_by[node]);
    }
    return path;
  }

  std::vector<Directed> directed_;  // 2i and 2i + 1 are the directions of an edge
  std::vector<std::vector<std::size_t>> edges_of_;
};

}  // namespace

bool MayMove(const store::PublishedUnit& unit, std::size_t class_index, std::uint64_t threshold) {
  FIELDCOST_CHECK(class_index < unit.classes.size() && !unit.recent.empty());
  Graph graph(1 + unit.recent.size());
  std::map<std::uint32_t, Node> cuts;
  for (const store::RecentCut& recent : unit.recent) {
    const Node cut = 1 + cuts.size();
    cuts[recent.serial] = cut;
    if (!recent.is_whole) graph.Connect(cut, kGround, recent.others);
  }
  const Node part = graph.AddNode();
  for (std::size_t i = 0; i < unit.classes.size(); ++i) {
    std::map<std::uint32_t, Node> parts_of_class;
    for (const store::ClassNewcomers& share : unit.classes[i].newcomers) {
      Node end = i == class_index ? part : kGround;
      if (share.moved_with != 0) {
        const auto [place, is_new] = parts_of_class.try_emplace(share.moved_with, 0);
        if (is_new) place->second = graph.AddNode();
        end = place->second;
      }
      graph.Connect(cuts.at(share.serial), end, share.newcomers);
    }
  }
  // Shares of cuts that are not recent are not edges.
  if (unit.classes[class_index].behind_from < unit.recent.front().serial) {
    graph.Connect(part, kGround, 0);
  }
  return !graph.AreConnected(part, kGround) || graph.Reaches(part, kGround, threshold);
}

}  // namespace fieldcost::publish
