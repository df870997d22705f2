#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/stats/quarter_scalars.h"

namespace fieldcost::publish {

struct CollapseCounts {
  std::uint64_t published = 0;
  std::uint64_t withheld = 0;  // pairs of API and metric below the threshold
  std::uint64_t unsound = 0;   // saturated or outside the polytope, so readers would refuse them
  std::uint64_t left_out = 0;  // rows of one class and week that would make a sum exceed its type
  // Keys of unsound and left-out rows; at most kMaxInconsistentRows.
  std::vector<stats::RowKey> inconsistent;
};

// Sums the rows of a range of a snapshot over weeks, both over all hardware classes and within each
// class, and calls `visit` for every sum that may be published, ascending by key. The week of a sum
// is 0, and the sum over classes has no hardware class.
//
// A sum over classes may be published if at least one quarter has at least `threshold`
// contributions. (An agent contributes once to an API and metric, regardless of the week and class
// that it claims, and its key belongs to one quarter, so these are different agents.) The sum of a
// single class may be published if the same holds for the class, the sum over classes is published,
// and the rest of that without the published classes is empty or also reaches the threshold: so
// subtracting rows of a publication from each other never gives the sums of fewer agents. If there
// is only one class, it is left out, since it would repeat the sum. At most kMaxClassesOfRow
// classes are published, those with the most contributions.
//
// Each sum comes with the scalars of its fullest quarter, in which each machine is counted once, or
// without any. The quarter is the same for a metric's sum over classes and its classes: the one
// with the most contributions among the quarters that reach the threshold, and without which the
// scalars of all weeks are empty or still reach the threshold, even after subtracting whole
// classes. A class has scalars of the quarter only if the same holds for it, and for the remainder
// of the other classes.
//
// A range contains all rows of its APIs (Snapshot::Split()). Needs memory for a few rows.
using CollapsedVisitor =
    std::function<Status(const stats::RowKey& key, const store::CompactRow& row,
                         const stats::QuarterScalars& fullest_quarter)>;
Result<CollapseCounts> Collapse(const store::Store::Snapshot& snapshot,
                                const store::Store::Snapshot::RowRange& range,
                                std::uint32_t threshold, const CollapsedVisitor& visit);

// Whether readers would accept the row: stats::Validate() of its histogram, scalars, weights and
// sizes (hence bounded sums), without making them dense.
bool IsSound(const store::CompactRow& row);

}  // namespace fieldcost::publish
