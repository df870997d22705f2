#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::recording {

// The outermost layer of a recording: a header, then frames to the end of the file. FORMAT.md has
// the bytes, with a worked example. Pure functions.

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kFrameHeadBytes = 16;

// One moment by all clocks. Times in a recording are ns of the monotonic clock since this one.
struct ClockAnchors {
  std::uint64_t created_ns = 0;    // since 1970-01-01 UTC; 0: computed of other recordings
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t ticks = 0;         // of the time stamp counter; 0: not known
  // Nanoseconds per tick, in units of 2^-32; 0: not known.
  std::uint64_t ns_per_tick = 0;
  bool operator==(const ClockAnchors&) const = default;
};

std::string EncodeHeader(const ClockAnchors& anchors);
// kInvalidArgument if it is none at all, kUnsupported if it is of a later version, else kCorrupt.
Result<ClockAnchors> DecodeHeader(std::string_view untrusted_bytes);
// Whether a file begins as a recording does, so that commands can tell it from other inputs.
bool LooksLikeRecording(std::string_view untrusted_bytes);

// Numbers are in files: never reused. Frames of a type that is not known are passed over.
enum class FrameType : std::uint32_t {
  kDictionary = 1,
  kMetrics = 2,
  kRun = 3,
  kCount = 4,
  kBlock = 5,
  kGroup = 6,
  kVector = 7,
  kTree = 8,
  kIndex = 9,
  kThreads = 10,
};
// "dictionary"; "unknown".
std::string_view Name(FrameType type);

struct FileFrame {
  FrameType type{};
  std::uint32_t number = 0;  // from 0 on, so that none is missing in the middle
  std::uint64_t offset = 0;  // of its head in the file; a multiple of 8
  std::string_view payload;
  std::uint64_t end() const;  // where the next one begins
};

// Appends head, payload and padding. REQUIRES: payload.size() <= kMaxFramePayloadBytes.
void AppendFrame(FrameType type, std::uint32_t number, std::string_view payload, std::string& out);

// Why there is no frame; empty if there is one.
struct FrameResult {
  FileFrame frame;
  std::string trouble;
  bool ok() const { return trouble.empty(); }
};
// The frame at `offset` of a whole file. All of it is compared with its checksum, unless that was
// done before.
FrameResult FrameAt(std::string_view untrusted_file, std::uint64_t offset,
                    bool was_checked = false);

}  // namespace fieldcost::recording
