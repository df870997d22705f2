#pragma once

#include <cstddef>

#include "common/base/units.h"
#include "common/tree/limits.h"
#include "common/wire/limits.h"

namespace fieldcost::exchange {

// Limits of imports; for frames, paths, depths and names, common/tree/limits.h applies, too.
inline constexpr std::size_t kMaxImportBytes = 1024 * kMiB;   // also after decompression
inline constexpr std::size_t kMaxLineBytes = 16 * kMiB;       // of text formats
inline constexpr std::size_t kMaxJsonTextBytes = 256 * kKiB;  // a name or number
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxThreads = std::size_t{1} << 16;
inline constexpr std::size_t kMaxExportBytes = 1024 * kMiB;

static_assert(wire::kMaxPprofBytes <= kMaxImportBytes);
static_assert(wire::kMaxStackFrames == tree::kMaxDepth, "every path can be a pprof stack");
static_assert(wire::kMaxPprofTextBytes >= tree::kMaxNameBytes, "every name can be a pprof text");

static_assert(2 * 4 * tree::kMaxNameBytes < kMaxJsonTextBytes, "also with all of it escaped");

}  // namespace fieldcost::exchange
