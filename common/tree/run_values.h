#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/tree/path.h"

namespace fieldcost::tree {

// What one run, or an interval of it, cost: for each metric a self value per path, by the ids of
// one PathTable. Dense: a path that is not in it costs 0, and so does one past the end of a column.
// In it is a path if it, or one that goes on from it, costs anything in any metric. A value; not
// thread-safe.
class RunValues {
 public:
  // REQUIRES: metrics <= kMaxMetrics, paths <= kMaxPaths.
  explicit RunValues(std::size_t metrics, std::size_t paths = 0);

  std::size_t metrics() const { return columns_.size(); }

  // REQUIRES for all: metric < metrics().
  std::span<const std::uint64_t> column(std::size_t metric) const;  // [path id]
  std::uint64_t value(std::size_t metric, PathId path) const;

  // Grows the column to at least `paths` and gives it to be written to, until the next one grows.
  // REQUIRES: paths <= kMaxPaths.
  std::span<std::uint64_t> MutableColumn(std::size_t metric, std::size_t paths);

  // kTooLarge, and no change, if the value would pass 2^64 - 1. REQUIRES: path.value() < kMaxPaths.
  Status Add(std::size_t metric, PathId path, std::uint64_t amount);

  // Adds all of them. kTooLarge as above; then some are added. REQUIRES: as many metrics.
  Status Add(const RunValues& other);

 private:
  std::vector<std::vector<std::uint64_t>> columns_;
};

}  // namespace fieldcost::tree
