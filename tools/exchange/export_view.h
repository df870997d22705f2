#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree.h"

namespace fieldcost::exchange {

// A tree as it is written: what costs something, in the order of codec.h, which does not depend on
// how it was put together. Refers to the tree.
class ExportView {
 public:
  struct Node {
    std::uint32_t parent;  // index here, before this one; of the root itself
    std::uint32_t frame;   // index in frames(); of the root 0
    tree::PathId path;
  };

  explicit ExportView(const tree::Tree& tree);

  const tree::Tree& tree() const { return tree_; }
  const std::vector<tree::Metric>& metrics() const { return tree_.metrics; }
  const std::vector<Node>& nodes() const { return nodes_; }  // the root is the first
  const std::vector<const tree::Frame*>& frames() const { return frames_; }

  // Self sums of all runs, [node]. kTooLarge, with the path, if one passes `most`.
  Result<std::vector<std::uint64_t>> SelfSums(std::size_t metric, std::uint64_t most) const;
  // With what goes on from each. kTooLarge if one passes `most`.
  Result<std::vector<std::uint64_t>> InclusiveSums(std::size_t metric,
                                                   const std::vector<std::uint64_t>& self,
                                                   std::uint64_t most) const;

 private:
  std::string PathText(std::size_t node) const;

  const tree::Tree& tree_;
  std::vector<Node> nodes_;
  std::vector<const tree::Frame*> frames_;
};

}  // namespace fieldcost::exchange
