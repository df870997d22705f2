#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"

namespace fieldcost::probe {

inline constexpr std::uint32_t kBatchFormatVersion = 1;
inline constexpr std::size_t kBatchTargetBytes = 128 * kKiB;    // encoded, before compression
inline constexpr std::size_t kMaxBatchBodyBytes = 256 * kKiB;   // compressed, as received
inline constexpr std::size_t kMaxBatchDecodedBytes = 2 * kMiB;  // after decompression
inline constexpr std::size_t kMaxRuns = 256;                    // per batch, as all up to kMaxHits
inline constexpr std::size_t kMaxSites = 4096;
inline constexpr std::size_t kMaxFrames = 16384;
inline constexpr std::size_t kMaxStacks = 8192;
inline constexpr std::size_t kMaxEvents = 16384;
inline constexpr std::size_t kMaxHits = 32768;
inline constexpr std::size_t kMaxStackFrames = 128;

inline constexpr std::size_t kMaxLabelBytes = 64;  // for points and events
inline constexpr std::size_t kMaxTags = 8;
inline constexpr std::size_t kMaxTagBytes = 31;
inline constexpr std::size_t kMaxBuildBytes = 63;
inline constexpr std::size_t kMaxProgramBytes = 255;
inline constexpr std::size_t kMaxFunctionBytes = 255;
inline constexpr std::size_t kMaxFileBytes = 255;  // of longer paths, the end is kept

// Times outside of [2020, 2100) are invalid.
inline constexpr std::uint64_t kLeastNs = 1'577'836'800'000'000'000;
inline constexpr std::uint64_t kMostNs = 4'102'444'800'000'000'000;

inline constexpr std::size_t kMaxHitsOfEvent = 4096;  // that are shown; others are only counted
// The maximum weight (texts, plus a constant each) of hits of one event that are read at once.
inline constexpr std::size_t kMaxWeightOfEvent = 8 * kMiB;
inline constexpr std::size_t kMaxRemovedHits = 20'000;  // per call of Expire() and the like
// The assumed size of a point on disk, in bytes; see EventStore::Add().
inline constexpr std::size_t kBytesOfHit = 60;
inline constexpr std::size_t kMaxCompared = 12;     // events side by side
inline constexpr std::size_t kMaxStepNames = 1024;  // in a table of steps

}  // namespace fieldcost::probe
