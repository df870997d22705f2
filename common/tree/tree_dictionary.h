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

// The meaning of frame and path ids. Trees built with one dictionary share it and can be added
// without look-ups. REQUIRES: the paths' frames are in `frames`. Immutable once shared; may then be
// read by several threads.
struct Dictionary {
  FrameTable frames;
  PathTable paths;

  // The frame of a path. REQUIRES: it is not the root.
  const Frame& frame(PathId path) const { return frames.frame(paths.frame(path)); }
};

// Several dictionaries merged into one.
struct Union {
  std::shared_ptr<const Dictionary> dictionary;
  // For each of them, [its path id] = id here; empty if they are the same.
  std::vector<std::vector<std::uint32_t>> to;
};

// By one of these.
inline std::size_t Mapped(const std::vector<std::uint32_t>& to, std::size_t path) {
  return to.empty() ? path : to[path];
}

// If all are the same, that one; else a new one. kTooLarge if it exceeds a limit. REQUIRES: at
// least one.
Result<Union> Unite(std::span<const std::shared_ptr<const Dictionary>> dictionaries);

// The paths with `kept`[path id], and the root, in the canonical order, which depends only on the
// frames: depth first, parents before children, siblings ascending by frame. REQUIRES: `kept` has
// as many elements as paths, and the parent of a kept path is kept.
std::vector<PathId> CanonicalOrder(const Dictionary& dictionary, const std::vector<bool>& kept);

}  // namespace fieldcost::tree
