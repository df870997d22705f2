#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/file.h"

namespace fieldcost {

// Bytes of a file: fills `to` from `offset` on, returns how many of `size` (> 0) there are.
using ReadAt = std::function<std::size_t(std::uint64_t offset, void* to, std::size_t size)>;

// Reads an open file; what cannot be read is not there. REQUIRES: `fd` outlives what is returned.
ReadAt ReaderOf(const UniqueFd& fd);

// Reads bytes in memory. REQUIRES: they outlive what is returned.
ReadAt ReaderOf(std::string_view bytes);

}  // namespace fieldcost
