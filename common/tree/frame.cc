#include "common/tree/frame.h"

#include <functional>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/tree/seeded_hash.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

constexpr std::size_t kLeastSlots = 64;

std::uint64_t HashOf(const Frame& frame) {
  const std::hash<std::string_view> hash;
  std::uint64_t value = SeededHash(static_cast<std::uint64_t>(frame.kind) ^ frame.offset);
  for (const std::string* part : {&frame.module, &frame.function, &frame.file, &frame.build_id}) {
    value = SeededHash(value ^ hash(*part));
  }
  return value;
}

std::uint32_t Short(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

Frame SpecialFrame(std::string function) {
  return {.kind = FrameKind::kSpecial, .function = std::move(function)};
}

Status Validate(const Frame& untrusted_frame) {
  for (const std::string* name :
       {&untrusted_frame.module, &untrusted_frame.function, &untrusted_frame.file}) {
    if (name->size() > kMaxNameBytes) {
      return Fail(ErrorCode::kTooLarge, "a frame's name has {} bytes, more than {}", name->size(),
                  kMaxNameBytes);
    }
  }
  if (untrusted_frame.build_id.size() > kMaxBuildIdBytes) {
    return Fail(ErrorCode::kTooLarge, "a build-id has {} bytes, more than {}",
                untrusted_frame.build_id.size(), kMaxBuildIdBytes);
  }
  const bool has_place = !untrusted_frame.build_id.empty() || untrusted_frame.offset != 0;
  switch (untrusted_frame.kind) {
    case FrameKind::kFunction:
      if (!untrusted_frame.function.empty() && !has_place) return {};
      break;
    case FrameKind::kUnnamed:
      if (untrusted_frame.function.empty() && untrusted_frame.file.empty()) return {};
      break;
    case FrameKind::kSpecial: {
      const std::string& name = untrusted_frame.function;
      if (name.size() > 2 && name.front() == '[' && name.back() == ']' && !has_place &&
          untrusted_frame.module.empty() && untrusted_frame.file.empty()) {
        return {};
      }
      break;
    }
  }
  return Fail(ErrorCode::kInvalidArgument, "a frame has what is not of its kind ({}), or lacks it",
              static_cast<unsigned>(untrusted_frame.kind));
}

std::size_t FrameTable::SlotOf(const Frame& frame) const {
  const std::uint64_t hash = HashOf(frame);
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const std::uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == Short(hash) && frames_[id] == frame) break;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void FrameTable::Grow() {
  slots_.assign(slots_.empty() ? kLeastSlots : slots_.size() * 2, 0);
  for (std::uint32_t id = 0; id < frames_.size(); ++id) slots_[SlotOf(frames_[id])] = id + 1;
}

Result<FrameId> FrameTable::Intern(const Frame& untrusted_frame) {
  if (const auto known = Find(untrusted_frame)) return *known;
  FIELDCOST_TRY(Validate(untrusted_frame));
  if (frames_.size() >= most_) {
    return Fail(ErrorCode::kTooLarge, "there are more than {} different frames", most_);
  }
  const std::size_t bytes = untrusted_frame.module.size() + untrusted_frame.function.size() +
                            untrusted_frame.file.size() + untrusted_frame.build_id.size();
  if (bytes > most_bytes_ - bytes_) {
    return Fail(ErrorCode::kTooLarge, "names of frames have more than {} bytes", most_bytes_);
  }
  bytes_ += bytes;
  if ((frames_.size() + 1) * 2 > slots_.size()) Grow();
  const auto id = static_cast<std::uint32_t>(frames_.size());
  const std::size_t slot = SlotOf(untrusted_frame);
  frames_.push_back(untrusted_frame);
  hashes_.push_back(Short(HashOf(untrusted_frame)));
  slots_[slot] = id + 1;
  return FrameId(id);
}

std::optional<FrameId> FrameTable::Find(const Frame& frame) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t found = slots_[SlotOf(frame)];
  return found == 0 ? std::nullopt : std::optional(FrameId(found - 1));
}

const Frame& FrameTable::frame(FrameId id) const {
  FIELDCOST_CHECK(id.value() < frames_.size());
  return frames_[id.value()];
}

}  // namespace fieldcost::tree
