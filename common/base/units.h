#pragma once

#include <cstddef>

namespace fieldcost {

// Sizes in bytes: 128 * kKiB.
inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

}  // namespace fieldcost
