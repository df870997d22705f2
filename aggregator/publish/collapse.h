#pragma once

#include <cstdint>
#include <functional>

#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::publish {

struct CollapseCounts {
  std::uint64_t published = 0;
  std::uint64_t withheld = 0;  // below the threshold
  std::uint64_t unsound = 0;   // saturated, or outside the polytope: would break every reader
};

// Sums the rows of a range of a snapshot over hardware classes and weeks and calls `visit` for
// every (API, metric) that may be published, ascending by key; the key has no hardware class and
// week 0. May be published: in at least one week at least `threshold` contributions came in. (An
// agent has one hardware class and contributes once a week to a row key, so these are different
// agents.) A range has all rows of its APIs (Snapshot::Split()).
using CollapsedVisitor =
    std::function<Status(const stats::RowKey& key, const store::CompactRow& row)>;
Result<CollapseCounts> Collapse(const store::Store::Snapshot& snapshot,
                                const store::Store::Snapshot::RowRange& range,
                                std::uint32_t threshold, const CollapsedVisitor& visit);

// Whether readers would take the row: stats::Validate() of its histogram, scalars and weights,
// without making them dense.
bool IsSound(const store::CompactRow& row);

}  // namespace fieldcost::publish
