#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/recording/block.h"

namespace fieldcost::recording {

// Sums values of a few among many paths: takes memory for all paths, but time only for the few. Not
// thread-safe.
class PathSums {
 public:
  explicit PathSums(std::size_t metrics) : sums_(metrics) {}

  // Makes room for paths below `paths`.
  void Reserve(std::size_t paths) {
    if (paths <= paths_) return;
    paths_ = paths + paths / 2;
    touched_.resize(paths_ / kBits + 1);
    for (std::vector<std::uint64_t>& column : sums_) column.resize(paths_);
  }
  // REQUIRES for both: path is below the reserved number, metric < metrics.
  void Touch(std::uint32_t path) { touched_[path / kBits] |= std::uint64_t{1} << path % kBits; }
  void Add(std::size_t metric, std::uint32_t path, std::uint64_t value) {
    sums_[metric][path] += value;
  }

  // Returns the sums of all touched paths, ascending, and resets them.
  SumsOfPaths Take();

 private:
  static constexpr std::size_t kBits = 64;
  std::size_t paths_ = 0;
  std::vector<std::uint64_t> touched_;
  std::vector<std::vector<std::uint64_t>> sums_;
};

}  // namespace fieldcost::recording
