#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/shm/run_file.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::runs {

// Validates fields of untrusted files that programs leave. Pure.

// Returns the zero-terminated text in a fixed-size field; nullopt if there is no zero.
template <std::size_t kSize>
std::optional<std::string_view> TextOf(const char (&untrusted_field)[kSize]) {
  const void* end = std::memchr(untrusted_field, 0, kSize);
  if (end == nullptr) return std::nullopt;
  return std::string_view(untrusted_field);
}

// Returns the cell's histogram, with a staged update completed; nullopt if it is invalid.
std::optional<stats::CostHistogram> HistogramOf(const shm::Cell& untrusted_cell);

}  // namespace fieldcost::runs
