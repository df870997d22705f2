#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/tree/frame.h"

namespace fieldcost::tree {

using PathId = StrongId<struct PathIdTag, std::uint32_t>;
inline constexpr PathId kRootPath{0};  // has no frames

// Interned call paths: a path is its caller's path plus one frame. Numbered in the order of their
// first occurrence, so a caller always has a smaller number than its callees, and one sweep from
// the last path to the first sums a tree. Movable and copyable; not thread-safe. Interning costs
// one look-up in a hash table.
class PathTable {
 public:
  PathTable();

  // The id of the path that extends `parent` by `frame`. kTooLarge if it has more than kMaxDepth
  // frames, or the table is full. REQUIRES: parent.value() < size().
  Result<PathId> Intern(PathId parent, FrameId frame);
  std::optional<PathId> Find(PathId parent, FrameId frame) const;

  // REQUIRES: id.value() < size(), and for parent and frame, it is not the root.
  PathId parent(PathId id) const;
  FrameId frame(PathId id) const;
  std::size_t depth(PathId id) const;  // the number of its frames; 0 for the root

  // All parents and frames by id, for sweeps; the root's are 0.
  std::span<const std::uint32_t> parents() const { return parents_; }
  std::span<const std::uint32_t> frames() const { return frames_; }

  std::size_t size() const { return parents_.size(); }  // including the root
  void Reserve(std::size_t paths);

 private:
  std::size_t SlotOf(std::uint32_t parent, std::uint32_t frame) const;
  void Rehash(std::size_t slots);

  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> frames_;
  std::vector<std::uint16_t> depths_;
  std::vector<std::uint32_t> slots_;  // path id, or 0; open addressing; a power of two
};

}  // namespace fieldcost::tree
