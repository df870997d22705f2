#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::analysis {

inline constexpr std::size_t kMaxFoldedBytes = 64U << 20;  // of folded stacks
inline constexpr std::size_t kMaxFoldedFrames = 1024;      // of one stack
inline constexpr std::size_t kMaxTreeNodes = 1U << 20;
inline constexpr std::size_t kMaxTreeNameBytes = 64U << 20;  // of all different names

// Sampled stacks added up to a call tree. Not thread-safe.
class StackTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t name = 0;
    std::uint64_t total = 0;  // here and below
    std::uint64_t self = 0;
    std::vector<std::uint32_t> children;
  };

  StackTree() { nodes_.emplace_back(); }

  // Adds a stack, its outermost function first. kTooLarge, and the tree is of no more use, beyond
  // the limits above or if the values add up to more than 2^64 - 1.
  Status Add(std::span<const std::string_view> untrusted_frames, std::uint64_t value);

  // The first is the root, which has no name.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::string& untrusted_name(const Node& node) const { return names_[node.name]; }

 private:
  Result<std::uint32_t> NameIndex(std::string_view name);

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  // parent and name -> node
  std::vector<std::string> names_ = {""};
  std::map<std::string, std::uint32_t, std::less<>> name_places_;
  std::size_t name_bytes_ = 0;
};

// Adds folded stacks ("main;run;deflate 12", a line a stack, as flame graph tools write them).
// Empty lines and a carriage return at a line's end are passed over. kCorrupt with the line's
// number if one has no stack or no whole number at its end; kTooLarge as above.
Status AddFoldedStacks(std::string_view untrusted_text, StackTree& tree);

}  // namespace fieldcost::analysis
