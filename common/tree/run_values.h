#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/tree/path.h"

namespace fieldcost::tree {

// The costs of one run, or of an interval of it: for each metric a self value per path, indexed by
// the ids of one PathTable. Dense: paths that are not contained, or are beyond the end of a column,
// cost 0. A path is contained if it, or a path that extends it, has a cost in any metric. A value;
// not thread-safe.
class RunValues {
 public:
  // REQUIRES: metrics <= kMaxMetrics, paths <= kMaxPaths.
  explicit RunValues(std::size_t metrics, std::size_t paths = 0);

  std::size_t metrics() const { return columns_.size(); }

  // REQUIRES for all functions below: metric < metrics().
  std::span<const std::uint64_t> column(std::size_t metric) const;  // [path id]
  std::uint64_t value(std::size_t metric, PathId path) const;

  // Grows the column to at least `paths` elements and returns it for writing; valid until the next
  // column grows. REQUIRES: paths <= kMaxPaths.
  std::span<std::uint64_t> MutableColumn(std::size_t metric, std::size_t paths);

  // kTooLarge, without a change, if the value would exceed 2^64 - 1. REQUIRES: path.value() <
  // kMaxPaths.
  Status Add(std::size_t metric, PathId path, std::uint64_t amount);

  // Adds all values. kTooLarge as above, but some values may have been added. REQUIRES: the same
  // number of metrics.
  Status Add(const RunValues& other);

 private:
  std::vector<std::vector<std::uint64_t>> columns_;
};

}  // namespace fieldcost::tree
