#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace fieldcost {

// Bytes of a file: fills `to` from `offset` on, returns how many of `size` (> 0) there are.
using ReadAt = std::function<std::size_t(std::uint64_t offset, void* to, std::size_t size)>;

}  // namespace fieldcost
