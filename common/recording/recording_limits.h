#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::recording {

// Limits of a recording; common/tree/tree_limits.h has those of paths and metrics. Writers and
// readers refuse anything beyond them, with kTooLarge or as corrupt.
inline constexpr std::size_t kMaxStreams = 64;
inline constexpr std::size_t kMaxRuns = 65'536;
inline constexpr std::size_t kMaxCounts = 256;
inline constexpr std::uint32_t kMaxThreads = 1'048'576;
inline constexpr std::size_t kMaxNameBytes = 256;       // for a stream, count or thread
inline constexpr std::size_t kMaxCommandBytes = 4'096;  // longer ones are truncated
inline constexpr std::size_t kMaxHashBytes = 64;
inline constexpr std::size_t kMaxFramePayloadBytes = 256 * kMiB;
// An increment of the dictionary ends when it is larger than this.
inline constexpr std::size_t kDictionaryBytes = 16 * kMiB;
// The maximum that a writer buffers until the next flush.
inline constexpr std::size_t kWriteBytes = kMiB;
inline constexpr std::size_t kMaxBins = 65'536;           // in a picture over time
inline constexpr std::size_t kTreePartBytes = 64 * kMiB;  // a larger tree has several frames
// The maximum time: one wrong clock reading must not make all later samples late.
inline constexpr std::uint64_t kMaxTimeNs = std::uint64_t{1} << 62;  // 146 years

// Waits and events with a duration (spans.h) are written in parts of at most this length.
inline constexpr std::uint64_t kMaxSpanNs = 1'000'000'000;

// The limits of a block: its number of samples, and its duration (less than this).
inline constexpr std::uint32_t kBlockSamples = 4'096;
inline constexpr std::uint64_t kBlockNs = 1'000'000'000;
inline constexpr std::size_t kGroupBlocks = 16;
// A cumulative vector follows the first full group after this many samples, or this many per path.
inline constexpr std::uint64_t kVectorSamples = 65'536;
inline constexpr std::uint64_t kVectorSamplesPerPath = 4;

static_assert(kBlockNs <= UINT32_MAX, "times in a block have 32 bits");
static_assert(kVectorSamples == kGroupBlocks * kBlockSamples, "full groups and vectors agree");
static_assert(kMaxFramePayloadBytes > tree::kMaxPaths * sizeof(std::uint64_t),
              "a vector of all paths fits into a frame");
static_assert(kMaxFramePayloadBytes > 2 * kBlockSamples * kGroupBlocks * 9 * tree::kMaxMetrics,
              "so does a group in which each sample has a path of its own");
static_assert(kMaxStreams <= UINT16_MAX && tree::kMaxMetrics <= UINT16_MAX,
              "they have 16 bits in the index");

}  // namespace fieldcost::recording
