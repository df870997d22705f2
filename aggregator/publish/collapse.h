#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/stats/week_scalars.h"

namespace fieldcost::publish {

struct CollapseCounts {
  std::uint64_t published = 0;
  std::uint64_t withheld = 0;  // (API, metric)s below the threshold
  std::uint64_t unsound = 0;   // saturated, or outside the polytope: no reader would accept them
  std::uint64_t left_out = 0;  // rows of a class and week with which a sum would exceed its type
  // Keys of unsound rows and of rows left out; at most kMaxInconsistentRows.
  std::vector<stats::RowKey> inconsistent;
};

// Sums the rows of a range of a snapshot over weeks, and over hardware classes as well as within
// them, and calls `visit` for every sum that may be published, ascending by key; week is 0, and the
// sum over classes has no hardware class.
//
// A sum over classes may be published if in at least one quarter at least `threshold` contributions
// came in. (An agent contributes once to an API and metric, whatever week and class it claims, and
// its key is of one quarter, so these are different agents.) A sum of a single class may be
// published if the same holds for the class, the sum over classes is published, and what is left of
// that without the published classes is nothing or also reaches the threshold: so subtracting rows
// of a publication from each other never gives the sums of fewer. A class that is the only one is
// left out, since it would repeat the sum. At most kMaxClassesOfRow are published, those with the
// most contributions.
//
// Each sum comes with the scalars of its fullest quarter, where each machine is counted once, or
// with none. It is the same quarter for a metric's sum over classes and its classes: of those in
// which the threshold is reached the one with most contributions, whose scalars subtracted from
// those of all weeks leave nothing or what reaches the threshold, also when whole classes are
// subtracted. A class has them only if the same holds for it, and for what that leaves of the
// others.
//
// A range has all rows of its APIs (Snapshot::Split()). Memory: some rows.
using CollapsedVisitor =
    std::function<Status(const stats::RowKey& key, const store::CompactRow& row,
                         const stats::WeekScalars& fullest_week)>;
Result<CollapseCounts> Collapse(const store::Store::Snapshot& snapshot,
                                const store::Store::Snapshot::RowRange& range,
                                std::uint32_t threshold, const CollapsedVisitor& visit);

// Whether readers would accept the row: stats::Validate() of its histogram, scalars, weights and
// sizes (hence bounded sums), without making them dense.
bool IsSound(const store::CompactRow& row);

}  // namespace fieldcost::publish
