#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agent/sampler/module_list.h"
#include "common/tree/dictionary.h"

namespace fieldcost::sampler {

enum class PlaceKind : std::uint8_t {
  kCode,   // of a function
  kBlock,  // of a branch: told apart from others of its function, by its line
};

// The place of a frame in a module, by which its name is looked up when all is recorded.
struct Place {
  SampledModule module;
  std::uint64_t address = 0;
  std::optional<std::uint64_t> function;  // where it begins, if that is known
  PlaceKind kind = PlaceKind::kCode;
};

// Frames and paths of stacks, without names ("libz.so+0x12f0"), and where each frame is. Not
// thread-safe.
class StackPaths {
 public:
  // REQUIRES: `dictionary` outlives this.
  explicit StackPaths(tree::Dictionary& dictionary) : dictionary_(&dictionary) {}

  // Other modules from now on.
  void ForgetModules() { known_.clear(); }

  // Frames of the stack, outermost first: [cut] unless it is whole or has more than `most`, and
  // then the innermost `most`. Those of our own libraries, which stand between a function and its
  // caller, are left out but where they are innermost.
  Result<std::vector<tree::FrameId>> FramesOf(const std::vector<SampledFrame>& frames,
                                              unwind::StackEnd end, std::size_t most,
                                              const std::vector<SampledModule>& modules);

  // The frame of a place.
  Result<tree::FrameId> FrameAt(Place place);

  // [frame id]: for frames that are at a place; others have an address of 0 and no module.
  const std::vector<Place>& places() const { return places_; }

 private:
  Result<tree::FrameId> FrameOf(const SampledFrame& frame,
                                const std::vector<SampledModule>& modules);

  tree::Dictionary* dictionary_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, tree::FrameId> known_;  // module, address
  std::vector<Place> places_;
};

}  // namespace fieldcost::sampler
