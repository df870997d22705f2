#pragma once

#include <cstdint>

#include "common/stats/contribution.h"

namespace fieldcost::stats {

// The scalars of one week's contributions to a row. An agent contributes to a row once a week, so
// these are of different machines, all independent of each other; those of several weeks are not,
// whatever is assumed about how often machines come back. Tests among machines are on these.
struct WeekScalars {
  std::uint32_t week = 0;  // as in RowKey; 0 = none is known
  ContributionScalars scalars{};
  bool operator==(const WeekScalars&) const = default;
};

// kCorrupt unless there are none, or the week's are possible and leave of `row`, which they are
// part of, what is possible, too.
Status Validate(const WeekScalars& untrusted_scalars, const ContributionScalars& row);

}  // namespace fieldcost::stats
