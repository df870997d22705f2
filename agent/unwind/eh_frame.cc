#include "agent/unwind/eh_frame.h"

#include <algorithm>
#include <cstring>

#include "agent/unwind/encoded_pointer.h"

namespace fieldcost::unwind {
namespace {

constexpr std::uint8_t kPointerFormat = 0x0f;

// Returns the content of the entry at `offset`, without its length; nullopt if there is none.
std::optional<std::span<const std::uint8_t>> EntryAt(std::span<const std::uint8_t> bytes,
                                                     std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  ByteCursor cursor(bytes.subspan(static_cast<std::size_t>(offset)));
  constexpr std::uint32_t kLong = 0xffffffff;
  std::uint64_t size = cursor.Read<std::uint32_t>();
  if (size == kLong) size = cursor.Read<std::uint64_t>();
  const auto content = cursor.Take(size);
  if (!cursor.ok() || content.size() < sizeof(std::uint32_t)) return std::nullopt;
  return content;
}

}  // namespace

Status EhFrame::Read() {
  std::uint64_t offset = 0;
  while (const auto content = EntryAt(bytes_, offset)) {
    const auto content_at = static_cast<std::size_t>(content->data() - bytes_.data());
    offset = content_at + content->size();
    ByteCursor cursor(*content);
    const auto id = cursor.Read<std::uint32_t>();
    if (id == 0) continue;  // a CIE
    if (id > content_at) {
      ++refused_;
      continue;
    }
    if (functions_.size() == kMostFunctions || commons_.size() == kMostCommons) {
      return Fail(ErrorCode::kTooLarge, ".eh_frame describes more than {} functions",
                  functions_.size());
    }
    AddFunction(static_cast<std::size_t>(offset), content_at - id, cursor);
  }
  return {};
}

void EhFrame::AddFunction(std::size_t entry_end, std::uint64_t common_at, ByteCursor cursor) {
  const std::uint32_t index = CommonAt(common_at);
  if (index == kRefused) {
    ++refused_;
    return;
  }
  const FrameCommon& common = commons_[index];
  const auto place = [&] { return address_ + entry_end - cursor.left(); };
  const auto start = ReadEncodedPointer(cursor, common.pointer_encoding, place(), 0);
  const auto size = ReadEncodedPointer(cursor, common.pointer_encoding & kPointerFormat, 0, 0);
  if (common.augmented) cursor.Take(cursor.Uleb128());
  if (!start || !size || !cursor.ok() || *start > UINT64_MAX - *size) {
    ++refused_;
    return;
  }
  if (*size == 0) return;
  functions_.push_back({.start = *start,
                        .end = *start + *size,
                        .common = index,
                        .program = static_cast<std::uint32_t>(entry_end - cursor.left()),
                        .program_bytes = static_cast<std::uint32_t>(cursor.left())});
}

std::uint32_t EhFrame::CommonAt(std::uint64_t offset) {
  const auto [found, is_new] = common_at_.try_emplace(offset, kRefused);
  if (is_new && common_at_.size() <= kMostCommons) {
    FrameCommon common;
    if (ReadCommon(offset, common)) {
      found->second = static_cast<std::uint32_t>(commons_.size());
      commons_.push_back(common);
    }
  }
  return found->second;
}

bool EhFrame::ReadCommon(std::uint64_t offset, FrameCommon& common) {
  const auto content = EntryAt(bytes_, offset);
  if (!content) return false;
  ByteCursor cursor(*content);
  if (cursor.Read<std::uint32_t>() != 0) return false;  // not a CIE
  const auto version = cursor.Read<std::uint8_t>();
  if (version != 1 && version != 3 && version != 4) return false;
  const auto rest = cursor.rest();
  const auto letters_end = std::find(rest.begin(), rest.end(), 0);
  if (letters_end == rest.end()) return false;
  const auto letters = cursor.Take(static_cast<std::size_t>(letters_end - rest.begin()));
  cursor.Take(1);
  if (version == 4 &&
      (cursor.Read<std::uint8_t>() != sizeof(std::uint64_t) || cursor.Read<std::uint8_t>() != 0)) {
    return false;
  }
  common.code_factor = cursor.Uleb128();
  common.data_factor = cursor.Sleb128();
  const std::uint64_t return_register =
      version == 1 ? cursor.Read<std::uint8_t>() : cursor.Uleb128();
  if (return_register != kInstructionPointer) return false;
  if (!letters.empty()) {
    if (letters[0] != 'z') return false;
    common.augmented = true;
    const auto data = cursor.Take(cursor.Uleb128());
    const std::string_view text(reinterpret_cast<const char*>(letters.data()), letters.size());
    if (!ReadAugmentation(text.substr(1), ByteCursor(data), common)) return false;
  }
  return cursor.ok() && RunInitialInstructions(cursor.rest(), common, sink_);
}

bool EhFrame::ReadAugmentation(std::string_view letters, ByteCursor data, FrameCommon& common) {
  for (const char letter : letters) {
    switch (letter) {
      case 'R':
        common.pointer_encoding = data.Read<std::uint8_t>();
        break;
      case 'L':
        data.Take(1);
        break;
      case 'P': {
        // Only its size matters.
        const auto encoding = data.Read<std::uint8_t>();
        if (encoding != kPointerOmitted &&
            !ReadEncodedPointer(data, encoding & kPointerFormat, 0, 0)) {
          return false;
        }
        break;
      }
      case 'S':
        common.signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return data.ok();
}

FrameOutcome EhFrame::Run(const FrameFunction& function, std::uint64_t end, FrameSink& sink) const {
  return RunFrameInstructions(
      bytes_.subspan(function.program, function.program_bytes), commons_[function.common],
      {.start = function.start, .end = end, .place = address_ + function.program}, sink);
}

}  // namespace fieldcost::unwind
