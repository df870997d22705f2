#pragma once

#include <cstdint>

#include "common/stats/contribution.h"

namespace fieldcost::stats {

// The scalars of one quarter's contributions to a row. A machine has one key per quarter, and a key
// contributes to a row once, so these come from different machines and are independent; those of
// several quarters are not. Tests among machines use these.
struct WeekScalars {
  std::uint32_t week = 0;  // the quarter's first, as in RowKey; 0 = none is known
  ContributionScalars scalars{};
  bool operator==(const WeekScalars&) const = default;
};

// kCorrupt unless there are none, or the week's are possible and leave of `row`, which they are
// part of, what is possible, too.
Status Validate(const WeekScalars& untrusted_scalars, const ContributionScalars& row);

}  // namespace fieldcost::stats
