#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"

namespace fieldcost::tree {

// Limits of a tree. Recorders stay within them by folding (into "[other]", "[cut]"); readers refuse
// anything beyond them with kTooLarge.
inline constexpr std::size_t kMaxPaths = std::size_t{1} << 24;   // including the root
inline constexpr std::size_t kMaxFrames = std::size_t{1} << 22;  // distinct ones
inline constexpr std::size_t kMaxDepth = 1024;                   // frames per path
inline constexpr std::size_t kMaxMetrics = 64;
inline constexpr std::size_t kMaxRuns = UINT32_MAX;
inline constexpr std::size_t kMaxNameBytes = 16 * kKiB;      // per module, function or file
inline constexpr std::size_t kMaxAllNameBytes = 256 * kMiB;  // for all frames of a table
inline constexpr std::size_t kMaxMetricNameBytes = 64;
inline constexpr std::size_t kMaxBuildIdBytes = 64;
static_assert(kMaxPaths <= UINT32_MAX && kMaxFrames <= UINT32_MAX, "their ids have 32 bits");
static_assert(kMaxDepth <= UINT16_MAX, "depths are kept in 16 bits");

}  // namespace fieldcost::tree
