#include "common/tree/path.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"
#include "common/tree/seeded_hash.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

constexpr std::size_t kInitialSlots = 64;

}  // namespace

PathTable::PathTable() : parents_(1), frames_(1), depths_(1), slots_(kInitialSlots) {}

std::size_t PathTable::SlotOf(std::uint32_t parent, std::uint32_t frame) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = SeededHash((std::uint64_t{parent} << 32) | frame) & mask;
  while (slots_[slot] != 0) {
    const std::uint32_t id = slots_[slot];
    if (parents_[id] == parent && frames_[id] == frame) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void PathTable::Rehash(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::uint32_t id = 1; id < parents_.size(); ++id) {
    slots_[SlotOf(parents_[id], frames_[id])] = id;
  }
}

void PathTable::Reserve(std::size_t paths) {
  paths = std::min(paths, kMaxPaths);
  parents_.reserve(paths);
  frames_.reserve(paths);
  depths_.reserve(paths);
  if (paths * 2 > slots_.size()) Rehash(std::bit_ceil(paths * 2));
}

Result<PathId> PathTable::Intern(PathId parent, FrameId frame) {
  FIELDCOST_CHECK(parent.value() < size());
  std::size_t slot = SlotOf(parent.value(), frame.value());
  if (slots_[slot] != 0) return PathId(slots_[slot]);
  if (depths_[parent.value()] == kMaxDepth) {
    return Fail(ErrorCode::kTooLarge, "a call path has more than {} frames", kMaxDepth);
  }
  if (size() == kMaxPaths) {
    return Fail(ErrorCode::kTooLarge, "there are more than {} call paths", kMaxPaths - 1);
  }
  if ((size() + 1) * 2 > slots_.size()) {
    Rehash(slots_.size() * 2);
    slot = SlotOf(parent.value(), frame.value());
  }
  const auto id = static_cast<std::uint32_t>(size());
  parents_.push_back(parent.value());
  frames_.push_back(frame.value());
  depths_.push_back(static_cast<std::uint16_t>(depths_[parent.value()] + 1));
  slots_[slot] = id;
  return PathId(id);
}

std::optional<PathId> PathTable::Find(PathId parent, FrameId frame) const {
  const std::uint32_t found = slots_[SlotOf(parent.value(), frame.value())];
  return found == 0 ? std::nullopt : std::optional(PathId(found));
}

PathId PathTable::parent(PathId id) const {
  FIELDCOST_CHECK(id != kRootPath && id.value() < size());
  return PathId(parents_[id.value()]);
}

FrameId PathTable::frame(PathId id) const {
  FIELDCOST_CHECK(id != kRootPath && id.value() < size());
  return FrameId(frames_[id.value()]);
}

std::size_t PathTable::depth(PathId id) const {
  FIELDCOST_CHECK(id.value() < size());
  return depths_[id.value()];
}

}  // namespace fieldcost::tree
