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
inline constexpr PathId kRootPath{0};  // of no frame

// Call paths, each once: a path is its caller's path and a frame more. Numbered in the order in
// which they were first seen, so a caller always has a smaller number than what it calls, and one
// sweep from the last path to the first adds up a tree. Moves and copies; not thread-safe.
// Interning costs one look-up in a hash table.
class PathTable {
 public:
  PathTable();

  // The number of the path that goes on from `parent` to `frame`. kTooLarge if that is deeper than
  // kMaxDepth frames, or the table is full. REQUIRES: parent.value() < size().
  Result<PathId> Intern(PathId parent, FrameId frame);
  std::optional<PathId> Find(PathId parent, FrameId frame) const;

  // REQUIRES: id.value() < size(), and it is not the root for parent and frame.
  PathId parent(PathId id) const;
  FrameId frame(PathId id) const;
  std::size_t depth(PathId id) const;  // number of its frames; 0 is the root

  // All of them by id, for sweeps; those of the root are 0.
  std::span<const std::uint32_t> parents() const { return parents_; }
  std::span<const std::uint32_t> frames() const { return frames_; }

  std::size_t size() const { return parents_.size(); }  // with the root
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
