#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/file.h"

namespace fieldcost {

// Reads up to `size` (> 0) bytes at `offset` into `to`; returns how many it has read.
using ReadAt = std::function<std::size_t(std::uint64_t offset, void* to, std::size_t size)>;

// Reads an open file; treats a read error as end of file. REQUIRES: `fd` outlives the result.
ReadAt ReaderOf(const UniqueFd& fd);

// Reads bytes in memory. REQUIRES: `bytes` outlives the result.
ReadAt ReaderOf(std::string_view bytes);

}  // namespace fieldcost
