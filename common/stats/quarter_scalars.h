#pragma once

#include <cstdint>

#include "common/stats/contribution.h"

namespace fieldcost::stats {

// The scalars of one quarter's contributions to a row. A machine has one key per quarter, and a key
// contributes to a row once, so these come from different machines and are independent; those of
// several quarters are not. Tests among machines use these.
struct QuarterScalars {
  std::uint32_t week = 0;  // the quarter's first week, as in RowKey; 0 = unknown
  ContributionScalars scalars{};
  bool operator==(const QuarterScalars&) const = default;
};

// kCorrupt unless there are none, or they are possible and subtracting them from `row` leaves
// possible scalars.
Status Validate(const QuarterScalars& untrusted_scalars, const ContributionScalars& row);

}  // namespace fieldcost::stats
