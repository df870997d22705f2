#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agent/perf/module_list.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::perf {

enum class PlaceKind : std::uint8_t {
  kCode,   // a function
  kBlock,  // the target of a branch: distinguished by its line within the function
};

// The place of a frame in a module, by which its name is looked up after the recording.
struct Place {
  SampledModule module;
  std::uint64_t address = 0;
  std::optional<std::uint64_t> function;  // where it begins, if known
  PlaceKind kind = PlaceKind::kCode;
};

// Interns frames and paths of stacks, without names ("libz.so+0x12f0"), and keeps the place of each
// frame. Not thread-safe.
class StackPaths {
 public:
  // REQUIRES: `dictionary` outlives this.
  explicit StackPaths(tree::Dictionary& dictionary) : dictionary_(&dictionary) {}

  // Begins a new list of modules.
  void ForgetModules() { known_.clear(); }

  // Returns the frames of the stack, outermost first: [cut] unless the stack is whole and has at
  // most `most` frames, then the innermost `most` frames. Frames of our own libraries between a
  // function and its caller are left out unless they are innermost.
  Result<std::vector<tree::FrameId>> FramesOf(const std::vector<SampledFrame>& frames,
                                              unwind::StackEnd end, std::size_t most,
                                              const std::vector<SampledModule>& modules);

  // Returns the frame of a place.
  Result<tree::FrameId> FrameAt(Place place);

  // Returns the places of frames by frame id; frames without a place have address 0 and no module.
  const std::vector<Place>& places() const { return places_; }

 private:
  Result<tree::FrameId> FrameOf(const SampledFrame& frame,
                                const std::vector<SampledModule>& modules);

  tree::Dictionary* dictionary_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, tree::FrameId> known_;  // module, address
  std::vector<Place> places_;
};

}  // namespace fieldcost::perf
