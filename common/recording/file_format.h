#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::recording {

// The outermost layer of a recording: a header, then frames up to the end of the file. FORMAT.md
// describes the bytes, with a worked example. Pure functions.

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kFrameHeadBytes = 16;

// The same moment by all clocks. Times in a recording are ns of the monotonic clock since then.
struct ClockAnchors {
  std::uint64_t created_ns = 0;    // since 1970-01-01 UTC; 0: computed from other recordings
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t ticks = 0;         // of the time stamp counter; 0: unknown
  // Nanoseconds per tick, in units of 2^-32; 0: unknown.
  std::uint64_t ns_per_tick = 0;
  bool operator==(const ClockAnchors&) const = default;
};

std::string EncodeHeader(const ClockAnchors& anchors);
// kInvalidArgument if it is not a recording, kUnsupported if it has a later version, else kCorrupt.
Result<ClockAnchors> DecodeHeader(std::string_view untrusted_bytes);
// Whether a file begins like a recording, so that commands can distinguish it from other inputs.
bool LooksLikeRecording(std::string_view untrusted_bytes);

// The numbers are stored in files and never reused. Frames of unknown types are skipped.
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
  std::uint32_t number = 0;  // consecutive from 0, so that a missing frame is detected
  std::uint64_t offset = 0;  // of its head in the file; a multiple of 8
  std::string_view payload;
  std::uint64_t end() const;  // where the next one begins
};

// Appends head, payload and padding. REQUIRES: payload.size() <= kMaxFramePayloadBytes.
void AppendFrame(FrameType type, std::uint32_t number, std::string_view payload, std::string& out);

// Returns the frame at `offset` of a whole file. Verifies its checksum unless that was done before.
// kCorrupt: there is no valid frame.
Result<FileFrame> FrameAt(std::string_view untrusted_file, std::uint64_t offset,
                          bool was_checked = false);

}  // namespace fieldcost::recording
