#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/tree/mean_tree.h"
#include "tools/analysis/idle_timeline.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::report {

struct IdlePage {
  const analysis::IdleView& view;
  std::string untrusted_operand;  // as named by the user
  std::vector<std::string> untrusted_remarks;
  std::optional<analysis::IdleTimeline> timeline = std::nullopt;
  std::uint64_t begin_ns = 0;  // of the timeline, since the start of each run
  // Their first metric is shown; nullopt: not recorded.
  std::optional<tree::MeanTree> to = std::nullopt;
  std::optional<tree::MeanTree> from = std::nullopt;
};

// Maximum number of bins of the timeline, of lines and columns of the matrix, and of chains.
inline constexpr std::size_t kIdlePageBins = 256;
inline constexpr std::size_t kIdlePageLines = 12;
inline constexpr std::size_t kIdlePageColumns = 6;
inline constexpr std::size_t kIdlePageChains = 100;

// A page on why CPUs were idle: each CPU over time and in numbers; side by side, flame graphs of
// the code that left CPUs idle and of the code that ran next; idle time by pairs of functions;
// chains. The page is self-contained and permits its scripts by hash; without scripts the flame
// graphs are static. Deterministic; everything is escaped.
std::string IdlePageHtml(const IdlePage& page);

}  // namespace fieldcost::report
