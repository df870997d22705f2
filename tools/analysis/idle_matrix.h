#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/idle_view.h"

namespace fieldcost::analysis {

// How much idle time who left to whom: a line for each that left CPUs idle, a column for each that
// ended that. Exact; pure.
struct IdleMatrix {
  // The greatest first; nullopt, the last: all others together.
  std::vector<std::optional<Doing>> to;
  std::vector<std::optional<Doing>> from;
  std::vector<std::vector<std::uint64_t>> ns;  // [to][from]
};

// At most so many lines and columns, with those of the others. Its sum is that of the view's pairs.
IdleMatrix MakeIdleMatrix(const IdleView& view, std::size_t most_lines, std::size_t most_columns);

}  // namespace fieldcost::analysis
