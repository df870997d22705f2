#include "common/recording/path_sums.h"

#include <bit>
#include <utility>

namespace fieldcost::recording {

SumsOfPaths PathSums::Take() {
  SumsOfPaths all;
  for (std::size_t word = 0; word < touched_.size(); ++word) {
    for (std::uint64_t bits = std::exchange(touched_[word], 0); bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      all.ids.push_back(static_cast<std::uint32_t>(word * kBits + bit));
    }
  }
  all.values.resize(sums_.size());
  for (std::size_t metric = 0; metric < sums_.size(); ++metric) {
    all.values[metric].reserve(all.ids.size());
    for (const std::uint32_t id : all.ids) {
      all.values[metric].push_back(std::exchange(sums_[metric][id], 0));
    }
  }
  return all;
}

}  // namespace fieldcost::recording
