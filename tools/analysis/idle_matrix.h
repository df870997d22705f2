#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/idle_view.h"

namespace fieldcost::analysis {

// Idle time by the code that left the CPU (rows) and the code that ended the idle period (columns).
// Exact; pure.
struct IdleMatrix {
  // The greatest first; the last, nullopt, represents all others together.
  std::vector<std::optional<Doing>> to;
  std::vector<std::optional<Doing>> from;
  std::vector<std::vector<std::uint64_t>> ns;  // [to][from]
};

// The limits include the row and column of the others. The sum equals that of the view's pairs.
IdleMatrix MakeIdleMatrix(const IdleView& view, std::size_t most_lines, std::size_t most_columns);

}  // namespace fieldcost::analysis
