#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/recording/by_thread.h"
#include "common/tree/tree.h"

namespace fieldcost::exchange {

// A tree in output order: only nodes with a cost, sorted as in common/tree/codec.h regardless of
// the order in which they were added. The nodes form groups: one per thread that has a first frame,
// and one for all others. Keeps a reference to the tree.
class ExportView {
 public:
  struct Node {
    std::uint32_t parent;  // index in nodes(), less than this node's; the root's is its own
    std::uint32_t frame;   // index in frames(); 0 for the root
    tree::PathId path;
    std::uint32_t group;  // index in groups()
  };
  struct Group {
    std::uint32_t root;  // the node of the thread's frame, left out of its paths; or 0
    recording::ThreadFrame thread;
    std::vector<std::uint32_t> nodes;  // in order; the first group has all nodes without a thread
  };

  // `threads`: first frames that stand for threads. Other first frames are ordinary frames.
  explicit ExportView(const tree::Tree& tree,
                      const std::vector<recording::ThreadFrame>& threads = {});

  const tree::Tree& tree() const { return tree_; }
  const std::vector<tree::Metric>& metrics() const { return tree_.metrics; }
  const std::vector<Node>& nodes() const { return nodes_; }  // the root is the first
  const std::vector<const tree::Frame*>& frames() const { return frames_; }
  const std::vector<Group>& groups() const { return groups_; }
  bool is_divided() const { return is_divided_; }
  // The first group with a cost: 1 if all costs belong to threads.
  std::size_t first_group() const { return first_group_; }

  // The nodes' self values, summed over all runs. kTooLarge, with the path, if one exceeds `most`.
  Result<std::vector<std::uint64_t>> SelfSums(std::size_t metric, std::uint64_t most) const;
  // The same including the nodes below. kTooLarge if a sum exceeds `most`.
  Result<std::vector<std::uint64_t>> InclusiveSums(std::size_t metric,
                                                   const std::vector<std::uint64_t>& self,
                                                   std::uint64_t most) const;

 private:
  std::string PathText(std::size_t node) const;
  std::uint32_t GroupOf(const Node& node, const std::vector<recording::ThreadFrame>& threads);

  const tree::Tree& tree_;
  std::vector<Node> nodes_;
  std::vector<const tree::Frame*> frames_;
  std::vector<Group> groups_;
  bool is_divided_;
  std::size_t first_group_ = 0;
};

}  // namespace fieldcost::exchange
