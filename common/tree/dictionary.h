#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/tree/frame.h"
#include "common/tree/path.h"

namespace fieldcost::tree {

// What ids of frames and paths mean. Trees that were made of one share it, and then need no look-up
// to be added. REQUIRES: the paths' frames are in `frames`. Once shared it does not change, and may
// be read by several threads.
struct Dictionary {
  FrameTable frames;
  PathTable paths;

  // The frame of a path. REQUIRES: it is not the root.
  const Frame& frame(PathId path) const { return frames.frame(paths.frame(path)); }
};

// Several dictionaries in one.
struct Union {
  std::shared_ptr<const Dictionary> dictionary;
  // For each of them, [its path id] = id here; empty if they are the same.
  std::vector<std::vector<std::uint32_t>> to;
};

// By one of these.
inline std::size_t Mapped(const std::vector<std::uint32_t>& to, std::size_t path) {
  return to.empty() ? path : to[path];
}

// If all are one, that one; else a new one. kTooLarge if that passes a limit. REQUIRES: at least
// one.
Result<Union> Unite(std::span<const std::shared_ptr<const Dictionary>> dictionaries);

// The paths of which `kept` is true, and the root, in the one order that depends on nothing but the
// frames: depth first, a path before what goes on from it, siblings ascending by frame. `kept`
// [path id] REQUIRES: as many as paths, and of a kept path the parent is kept.
std::vector<PathId> CanonicalOrder(const Dictionary& dictionary, const std::vector<bool>& kept);

}  // namespace fieldcost::tree
