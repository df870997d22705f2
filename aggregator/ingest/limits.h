#pragma once

#include <cstddef>
#include <cstdint>

#include "common/stats/uint128.h"

namespace fieldcost::ingest {

// What one row of one batch may claim. A real week stays far below; sums of 2^24 such rows still
// fit their 128 bits, so no sender can push a stored row over its edge.
inline constexpr std::uint64_t kMaxRowCalls = std::uint64_t{1} << 40;
inline constexpr stats::Uint128 kMaxRowSumOfSquares = stats::Uint128{1} << 104;

// Rows are accepted from this many weeks before the server's to this many after it.
inline constexpr std::uint32_t kWeeksBack = 5;
inline constexpr std::uint32_t kWeeksAhead = 1;

// What a sender is told when the server has no room for its batch.
inline constexpr unsigned kRetryAfterSeconds = 30;

inline constexpr std::size_t kSecretBytes = 32;

}  // namespace fieldcost::ingest
