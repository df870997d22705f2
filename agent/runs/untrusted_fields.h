#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/shm/run_file.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::agent {

// Validates fields of files that programs leave, which are untrusted. Pure.

// A zero-terminated text in a fixed field. nullopt if the zero is missing.
template <std::size_t kSize>
std::optional<std::string_view> TextOf(const char (&untrusted_field)[kSize]) {
  const void* end = std::memchr(untrusted_field, 0, kSize);
  if (end == nullptr) return std::nullopt;
  return std::string_view(untrusted_field);
}

// The cell's histogram, with a staged update completed; nullopt if it is not a valid one.
std::optional<stats::CostHistogram> HistogramOf(const shm::Cell& untrusted_cell);

}  // namespace fieldcost::agent
