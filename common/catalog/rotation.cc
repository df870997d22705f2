#include "common/catalog/rotation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/check.h"
#include "common/shm/mix.h"

namespace fieldcost::catalog {
namespace {

constexpr std::uint32_t kDaysPerCycle = 7;

}  // namespace

std::vector<std::uint32_t> FragmentOrder(std::uint64_t seed, std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[shm::NextRandom(&seed) % left]);
  }
  return order;
}

std::uint32_t DefaultShare(std::uint32_t fragment_count) {
  return std::max(1U, fragment_count / kDaysPerCycle + (fragment_count % kDaysPerCycle != 0));
}

std::vector<std::uint32_t> NextStale(const std::vector<std::uint32_t>& order,
                                     const std::vector<bool>& stale, std::uint64_t cursor,
                                     std::uint64_t limit) {
  std::vector<std::uint32_t> positions;
  FIELDCOST_CHECK(stale.size() == order.size());
  const std::size_t count = order.size();
  for (std::size_t step = 0; step < count && positions.size() < limit; ++step) {
    const std::size_t position = (cursor % count + step) % count;
    if (stale[order[position]]) positions.push_back(static_cast<std::uint32_t>(position));
  }
  return positions;
}

}  // namespace fieldcost::catalog
