#pragma once

#include <cstdint>

namespace fieldcost::tree {

// A hash with a per-process random seed, for tables of external data, so that the data's authors
// cannot provoke collisions. Stored data never depends on it. Thread-safe.
std::uint64_t SeededHash(std::uint64_t value);

}  // namespace fieldcost::tree
