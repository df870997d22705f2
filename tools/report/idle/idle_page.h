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
  std::string untrusted_operand;  // as it was named
  std::vector<std::string> untrusted_remarks;
  std::optional<analysis::IdleTimeline> timeline = std::nullopt;
  std::uint64_t begin_ns = 0;  // of the timeline, since each run's begin
  // Their first metric is shown; nullopt: not recorded.
  std::optional<tree::MeanTree> to = std::nullopt;
  std::optional<tree::MeanTree> from = std::nullopt;
};

// As many as a page's timeline should have; lines and columns of its matrix, chains.
inline constexpr std::size_t kIdlePageBins = 256;
inline constexpr std::size_t kIdlePageLines = 12;
inline constexpr std::size_t kIdlePageColumns = 6;
inline constexpr std::size_t kIdlePageChains = 100;

// A page on why CPUs were idle: each CPU over time and in numbers; flame graphs of the code that
// left them idle and of the code that ended it, side by side; idle time by pairs of functions;
// chains. It is self-contained and permits its scripts by hash; without scripts the flame graphs
// are static. Deterministic; everything is escaped.
std::string IdlePageHtml(const IdlePage& page);

}  // namespace fieldcost::report
