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

// The meaning of frame and path ids. Trees built with the same dictionary share it and can be added
// without look-ups. REQUIRES: the paths' frames are in `frames`. Immutable once shared; several
// threads may then read it.
struct Dictionary {
  FrameTable frames;
  PathTable paths;

  // The frame of a path. REQUIRES: it is not the root.
  const Frame& frame(PathId path) const { return frames.frame(paths.frame(path)); }
};

// Several dictionaries merged into one.
struct Union {
  std::shared_ptr<const Dictionary> dictionary;
  // For each of them, [its path id] = id in `dictionary`; empty if they are the same.
  std::vector<std::vector<std::uint32_t>> to;
};

// Maps a path id with one of these.
inline std::size_t Mapped(const std::vector<std::uint32_t>& to, std::size_t path) {
  return to.empty() ? path : to[path];
}

// Returns the dictionary itself if all are the same, or else a new one. kTooLarge if it exceeds a
// limit. REQUIRES: at least one.
Result<Union> Unite(std::span<const std::shared_ptr<const Dictionary>> dictionaries);

// The paths with `kept`[path id], and the root, in canonical order, which depends only on the
// frames: depth first, parents before children, siblings ascending by frame. REQUIRES: `kept` has
// one element per path, and the parent of a kept path is kept.
std::vector<PathId> CanonicalOrder(const Dictionary& dictionary, const std::vector<bool>& kept);

}  // namespace fieldcost::tree
