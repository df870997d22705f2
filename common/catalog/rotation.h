#pragma once

#include <cstdint>
#include <vector>

namespace fieldcost::catalog {

// The schedule by which a client fetches fragments. Pure functions, so that a week can be tested in
// an instant.

// The numbers 0..count-1 in an order that depends only on `seed`. Each catalogue has its own seed,
// so that clients do not all request the same fragment on the same day.
std::vector<std::uint32_t> FragmentOrder(std::uint64_t seed, std::uint32_t count);

// The default daily share: a seventh, rounded up, at least 1.
std::uint32_t DefaultShare(std::uint32_t fragment_count);

// Positions (in `order`) of the next `limit` stale fragments, from `cursor` on, wrapping once.
// REQUIRES: stale.size() == order.size(); stale is indexed by fragment, not by position.
std::vector<std::uint32_t> NextStale(const std::vector<std::uint32_t>& order,
                                     const std::vector<bool>& stale, std::uint64_t cursor,
                                     std::uint64_t limit);

}  // namespace fieldcost::catalog
