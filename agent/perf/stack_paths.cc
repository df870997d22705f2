#include "agent/perf/stack_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/tree/identity.h"

namespace fieldcost::perf {
namespace {

tree::Frame UnnamedFrame(const SampledModule& module, std::uint64_t address) {
  const bool is_file = module.kind == SampledModule::Kind::kFile;
  const std::string build_id = is_file ? HexDecode(module.build_id).value_or("") : "";
  const std::string name = module.path.empty() ? "[generated]" : module.path;
  return tree::MakeFrame({.module = name, .build_id = build_id, .offset = address});
}

// Returns whether it is one of our own libraries, whose thunks are between a function and its
// caller.
bool IsOurs(const SampledModule& module) {
  const std::string_view name = std::string_view(module.path).substr(module.path.rfind('/') + 1);
  return name.starts_with("libfieldcost_");
}

tree::Frame UnnamedBlock(const SampledModule& module, std::uint64_t address) {
  return tree::MakeFrame(
      {.module = module.path, .symbol = fmt::format("[block at 0x{:x}]", address)});
}

}  // namespace

Result<tree::FrameId> StackPaths::FrameOf(const SampledFrame& frame,
                                          const std::vector<SampledModule>& modules) {
  const auto [known, is_new] = known_.try_emplace({frame.module, frame.address});
  if (!is_new) return known->second;
  const SampledModule& module = modules[frame.module];
  Place place{.module = module, .address = frame.address, .function = {}};
  if (module.table != nullptr) place.function = module.table->FunctionStart(frame.address);
  FIELDCOST_ASSIGN(known->second, FrameAt(std::move(place)));
  return known->second;
}

Result<tree::FrameId> StackPaths::FrameAt(Place place) {
  const bool is_block = place.kind == PlaceKind::kBlock;
  FIELDCOST_ASSIGN(
      const tree::FrameId frame,
      dictionary_->frames.Intern(is_block ? UnnamedBlock(place.module, place.address)
                                          : UnnamedFrame(place.module, place.address)));
  place.module.table = nullptr;  // places outlive samplers
  if (frame.value() >= places_.size()) places_.resize(frame.value() + 1);
  places_[frame.value()] = std::move(place);
  return frame;
}

Result<std::vector<tree::FrameId>> StackPaths::FramesOf(const std::vector<SampledFrame>& frames,
                                                        unwind::StackEnd end, std::size_t most,
                                                        const std::vector<SampledModule>& modules) {
  std::vector<tree::FrameId> result;
  const std::size_t kept = std::min(frames.size(), most);
  if (end != unwind::StackEnd::kOutermost || kept < frames.size()) {
    FIELDCOST_ASSIGN(const tree::FrameId cut,
                     dictionary_->frames.Intern(tree::SpecialFrame(tree::kCut)));
    result.push_back(cut);
  }
  // Our own cost is shown; our frames between those of others are not.
  std::size_t own = 0;
  while (own < kept && IsOurs(modules[frames[own].module])) ++own;
  for (std::size_t i = kept; i-- > 0;) {
    if (i >= own && IsOurs(modules[frames[i].module])) continue;
    FIELDCOST_ASSIGN(const tree::FrameId frame, FrameOf(frames[i], modules));
    result.push_back(frame);
  }
  return result;
}

}  // namespace fieldcost::perf
