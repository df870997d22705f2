#pragma once

#include <cstdint>

namespace fieldcost::tree {

// For tables of what comes from outside: not foreseen by whoever made it, as each process has a
// random seed. Nothing that is kept depends on it. Thread-safe.
std::uint64_t SeededHash(std::uint64_t value);

}  // namespace fieldcost::tree
