#pragma once

#include <cstddef>

#include "common/base/units.h"
#include "common/tree/tree_limits.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::exchange {

// Limits of imports; for frames, paths, depths and names, common/tree/tree_limits.h applies, too.
inline constexpr std::size_t kMaxImportBytes = 1024 * kMiB;   // also after decompression
inline constexpr std::size_t kMaxLineBytes = 16 * kMiB;       // of text formats
inline constexpr std::size_t kMaxJsonTextBytes = 256 * kKiB;  // a name or number
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxThreads = std::size_t{1} << 16;
inline constexpr std::size_t kMaxExportBytes = 1024 * kMiB;

// Limits of pprof profiles.
inline constexpr std::size_t kMaxPprofBytes = 64 * kMiB;  // as in the file
inline constexpr std::size_t kMaxPprofDecodedBytes = 128 * kMiB;
inline constexpr std::size_t kMaxPprofEntries = 1 << 20;  // of one kind: samples, locations, ...
inline constexpr std::size_t kMaxPprofTextBytes = 4 * tree::kMaxNameBytes;

static_assert(kMaxPprofDecodedBytes <= wire::kMaxMessageBytes);
static_assert(kMaxPprofBytes <= kMaxImportBytes);
static_assert(wire::kMaxStackFrames == tree::kMaxDepth, "every path can be a pprof stack");
static_assert(kMaxPprofTextBytes >= 4 * tree::kMaxNameBytes, "also with all of a name escaped");

static_assert(2 * 4 * tree::kMaxNameBytes < kMaxJsonTextBytes, "also with all of it escaped");

}  // namespace fieldcost::exchange
